internal import Dispatch
internal import HoldfastPlatform

/// Gives memory back that lies idle.
enum IdleMemory {
    /// A crowd takes a while to close; one trim behind its end is enough.
    private static let pause = DispatchTimeInterval.seconds(2)

    /// The C library keeps freed memory wherever memory in use lies behind it: nearly everything that a crowd of
    /// connections had. Its own call for that takes a millisecond for some megabytes, on a thread of its own.
    static func giveBackSoon() {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + pause) { FreedMemory.giveBack() }
    }
}
