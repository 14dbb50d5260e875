internal import Dispatch
internal import Glibc

/// Gives memory back that lies idle.
enum IdleMemory {
    /// A crowd takes a while to go, and what is given back while it goes is given back for the rest once more.
    private static let pause = DispatchTimeInterval.seconds(2)

    /// What was freed, the C library keeps for later wherever something that is in use lies behind it: nearly all of what
    /// a crowd of connections had. Its own call for that takes a millisecond for some megabytes, on a thread of its own.
    static func giveBackSoon() {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + pause) { _ = trim?(0) }
    }

    /// glibc's `malloc_trim`, which Swift's module of it leaves out; nil where the C library has none.
    private static let trim: (@convention(c) (Int) -> CInt)? = {
        unsafe dlsym(nil, "malloc_trim").map { unsafe unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self) }
    }()
}
