internal import Dispatch
internal import Glibc

/// Gives memory back that lies idle.
enum IdleMemory {
    /// A crowd takes a while to close; one trim behind its end is enough.
    private static let pause = DispatchTimeInterval.seconds(2)

    /// The C library keeps freed memory wherever memory in use lies behind it: nearly everything that a crowd of
    /// connections had. Its own call for that takes a millisecond for some megabytes, on a thread of its own.
    static func giveBackSoon() {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + pause) { _ = trim?(0) }
    }

    /// glibc's `malloc_trim`, which Swift's module of it leaves out; nil where the C library has none.
    private static let trim: (@convention(c) (Int) -> CInt)? = {
        unsafe dlsym(nil, "malloc_trim").map { unsafe unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self) }
    }()
}
