internal import Glibc

/// How many files and connections this process may have open: `RLIMIT_NOFILE`, see getrlimit(2).
struct DescriptorLimit: Equatable, Sendable {
    /// What holds now.
    var soft: Int
    /// Up to where the process may raise it by itself.
    var hard: Int

    /// It is raised no further: no configuration's bounds come to more, and some libraries look at each number below it.
    static let greatest = 1 << 20

    /// - Returns: nil where the system does not say.
    static var current: DescriptorLimit? {
        var limit = rlimit()
        // 7 is RLIMIT_NOFILE.
        guard unsafe getrlimit(__rlimit_resource_t(7), &limit) == 0 else { return nil }
        return DescriptorLimit(soft: Int(clamping: limit.rlim_cur), hard: Int(clamping: limit.rlim_max))
    }

    /// What holds when a service has raised it as far as it may.
    var raised: Int { max(soft, min(hard, Self.greatest)) }

    /// Shells give 1024, for the sake of programs that use select(2); NIO does not.
    ///
    /// Where it can't be raised, what holds stays, and the service is told by its plan.
    static func raise() {
        guard let current, current.raised > current.soft else { return }
        var limit = rlimit(rlim_cur: rlim_t(current.raised), rlim_max: rlim_t(current.hard))
        unsafe setrlimit(__rlimit_resource_t(7), &limit)
    }
}
