internal import HoldfastPlatform

/// How many files and connections this process may have open: `RLIMIT_NOFILE`, see getrlimit(2).
package struct DescriptorLimit: Equatable, Sendable {
    /// The limit that holds now.
    package var soft: Int
    /// Up to where the process may raise it by itself.
    package var hard: Int

    /// It is raised no further: no configuration's bounds come to more, and some libraries look at each number below it.
    package static let greatest = 1 << 20

    /// - Returns: nil where the system does not say.
    package static var current: DescriptorLimit? {
        ResourceLimit.openFiles.current.map { DescriptorLimit(soft: $0.soft, hard: $0.hard) }
    }

    /// The limit after a service has raised it as far as it may.
    package var raised: Int { max(soft, min(hard, Self.greatest)) }
}
