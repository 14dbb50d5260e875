internal import HoldfastPlatform
internal import HoldfastService

extension DescriptorLimit {
    /// Shells give 1024, for the sake of programs that use select(2); NIO does not.
    ///
    /// Where it can't be raised, what holds stays, and the service is told by its plan.
    static func raise() {
        guard let current, current.raised > current.soft else { return }
        ResourceLimit.openFiles.set(soft: current.raised, hard: current.hard)
    }
}
