
Bx1Jz:r¾Æ;