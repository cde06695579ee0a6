//! The adapters of this machine, and choosing one. No adapter is a normal answer.

use std::fmt;

/// One adapter of this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdapterInfo {
    /// The name the driver gives the device.
    pub name: String,
    /// The API it is reached through: `vulkan`, `metal`, `dx12`.
    pub api: String,
    /// The driver and its version.
    pub driver: String,
    /// `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    pub kind: String,
}

impl fmt::Display for AdapterInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {}, {})", self.name, self.kind, self.api, self.driver)
    }
}

impl AdapterInfo {
    /// The kind of an adapter that is a program on the CPU.
    pub const SOFTWARE: &str = "cpu";
}

impl From<wgpu::AdapterInfo> for AdapterInfo {
    fn from(info: wgpu::AdapterInfo) -> Self {
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => Self::SOFTWARE,
            wgpu::DeviceType::Other => "other",
        };
        Self {
            name: info.name,
            api: info.backend.to_str().to_owned(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            kind: kind.to_owned(),
        }
    }
}

/// Which adapter to open.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Which {
    /// The fastest kind there is: discrete, integrated, virtual, then software.
    #[default]
    Best,
    /// The adapter at this position of [`adapters`].
    Index(usize),
    /// The first adapter whose name or driver contains this text, in any case.
    Name(String),
}

impl Which {
    /// The adapter that a word stands for: a position, or a part of a name.
    pub fn named(word: &str) -> Self {
        word.parse().map_or_else(|_| Self::Name(word.to_owned()), Self::Index)
    }

    /// Whether the adapter at a position is meant.
    pub(super) fn is(&self, position: usize, info: &AdapterInfo) -> bool {
        match self {
            Self::Best => true,
            Self::Index(wanted) => position == *wanted,
            Self::Name(name) => {
                let name = name.to_lowercase();
                [&info.name, &info.driver].iter().any(|text| text.to_lowercase().contains(&name))
            }
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Best => f.write_str("any adapter"),
            Self::Index(i) => write!(f, "adapter {i}"),
            Self::Name(name) => write!(f, "an adapter named `{name}`"),
        }
    }
}

/// The adapters of this machine, fastest kind first; empty where there is no driver.
pub fn adapters() -> Vec<AdapterInfo> {
    enumerate().iter().map(|a| a.get_info().into()).collect()
}

/// GLES is left out: it gets the sign of an integer remainder wrong.
pub(super) fn enumerate() -> Vec<wgpu::Adapter> {
    let apis = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    if !wgpu::Instance::enabled_backend_features().intersects(apis) {
        return Vec::new();
    }
    let mut desc = wgpu::InstanceDescriptor::new_without_display_handle();
    desc.backends = apis;
    desc.flags = wgpu::InstanceFlags::empty();
    let mut found = pollster::block_on(wgpu::Instance::new(desc).enumerate_adapters(apis));
    found.sort_by_key(|a| match a.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    found
}
