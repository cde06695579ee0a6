
By1Jg@