// The calls and numbers in which the systems differ. Those that one of them lacks say so.

/// The kinds of sockets, which each C library gives another type.
package enum SocketKind {
    #if canImport(Darwin) || canImport(Musl)
    package static let stream = Int32(SOCK_STREAM)
    package static let datagram = Int32(SOCK_DGRAM)
    #else
    package static let stream = Int32(SOCK_STREAM.rawValue)
    package static let datagram = Int32(SOCK_DGRAM.rawValue)
    #endif
}

/// Names that the kernel has for things of this process.
package enum KernelNames {
    #if canImport(Darwin)
    /// A directory with a link for each open descriptor, through which longer paths are reached. Darwin has none that leads
    /// on into a directory.
    package static let openDescriptors: String? = nil
    /// A link to the program that runs. Darwin has none.
    package static let ownProgram: String? = nil
    /// A file that names the boot of the machine. Darwin has none.
    package static let bootIdentity: String? = nil
    /// The number of `TCP_INFO`. Darwin has a state of another form, without the bytes that the peer has acknowledged.
    package static let tcpInfo: Int32? = nil
    #else
    /// A directory with a link for each open descriptor, through which longer paths are reached.
    package static let openDescriptors: String? = "/proc/self/fd"
    /// A link to the program that runs.
    package static let ownProgram: String? = "/proc/self/exe"
    /// A file that names the boot of the machine, with another text for each.
    package static let bootIdentity: String? = "/proc/sys/kernel/random/boot_id"
    /// The number of `TCP_INFO`, whose layout is `TCPInfo`'s.
    package static let tcpInfo: Int32? = 11
    #endif
}

/// A limit of this process, see getrlimit(2).
package enum ResourceLimit: Sendable {
    /// `RLIMIT_NOFILE`.
    case openFiles
    /// `RLIMIT_FSIZE`, in bytes.
    case fileSize

    #if canImport(Darwin)
    private var number: Int32 {
        switch self {
        case .openFiles: 8
        case .fileSize: 1
        }
    }
    private static let unlimited = rlim_t(Int64.max)
    #elseif canImport(Musl)
    private var number: Int32 {
        switch self {
        case .openFiles: 7
        case .fileSize: 1
        }
    }
    private static let unlimited = rlim_t.max
    #else
    private var number: __rlimit_resource_t {
        switch self {
        case .openFiles: __rlimit_resource_t(7)
        case .fileSize: __rlimit_resource_t(1)
        }
    }
    private static let unlimited = rlim_t.max
    #endif

    /// The limit that holds, and up to where the process may raise it; nil where the system does not say. `Int.max` is none.
    package var current: (soft: Int, hard: Int)? {
        var limit = rlimit()
        guard unsafe getrlimit(number, &limit) == 0 else { return nil }
        return (Self.count(limit.rlim_cur), Self.count(limit.rlim_max))
    }

    /// Sets both values. Where that is not allowed, what holds stays.
    package func set(soft: Int, hard: Int) {
        var limit = rlimit(rlim_cur: Self.value(soft), rlim_max: Self.value(hard))
        unsafe setrlimit(number, &limit)
    }

    private static func count(_ value: rlim_t) -> Int { value >= unlimited ? .max : Int(clamping: value) }

    private static func value(_ count: Int) -> rlim_t { count == .max ? unlimited : rlim_t(clamping: count) }
}

/// The process at the other end of a socket, and its user, as the kernel noted them.
package struct SocketPeer: Hashable, Sendable {
    package let process: UInt32
    package let user: UInt32

    /// - Returns: nil for a descriptor that is no connected socket of this machine, with the reason in `errno`.
    package init?(of descriptor: Int32) {
        #if canImport(Darwin)
        // SOL_LOCAL is 0; LOCAL_PEERPID 2.
        var process = pid_t()
        var length = socklen_t(MemoryLayout<pid_t>.size)
        guard unsafe getsockopt(descriptor, 0, 2, &process, &length) == 0 else { return nil }
        var (user, group) = (uid_t(), gid_t())
        guard unsafe getpeereid(descriptor, &user, &group) == 0 else { return nil }
        self.process = UInt32(bitPattern: process)
        self.user = user
        #else
        // The kernel's `struct ucred`: process, user, group.
        var words: [UInt32] = [0, 0, 0]
        var length = socklen_t(12)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &words, &length) == 0 else { return nil }
        (process, user) = (words[0], words[1])
        #endif
    }
}

/// Memory that was freed, and that the C library keeps.
package enum FreedMemory {
    /// Gives it back to the system, where the C library has a call for that: musl has none.
    package static func giveBack() {
        #if canImport(Darwin)
        _ = malloc_zone_pressure_relief(nil, 0)
        #else
        _ = trim?(0)
        #endif
    }

    #if !canImport(Darwin)
    /// glibc's `malloc_trim`, which Swift's module of it leaves out.
    private static let trim: (@convention(c) (Int) -> CInt)? = {
        unsafe dlsym(nil, "malloc_trim").map { unsafe unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self) }
    }()
    #endif
}

/// A failed call, with its `errno`.
package struct FailedCall: Error, Sendable {
    package let name: String
    package let code: Int32

    init(_ name: String) {
        self.name = name
        code = errno
    }
}

/// Datagrams to sockets of this machine.
package enum LocalDatagram {
    /// Sends one datagram, and blocks until it was taken, 5 s at most.
    ///
    /// - Parameter path: the bytes of the socket's path; on Linux a NUL at the beginning is a name in the abstract namespace.
    package static func send(_ data: [UInt8], to path: [UInt8]) throws(FailedCall) {
        #if canImport(Darwin)
        let (kind, flags) = (SocketKind.datagram, Int32(0))
        #elseif canImport(Musl)
        let (kind, flags) = (SocketKind.datagram | Int32(SOCK_CLOEXEC), Int32(MSG_NOSIGNAL))
        #else
        let (kind, flags) = (SocketKind.datagram | Int32(SOCK_CLOEXEC.rawValue), Int32(MSG_NOSIGNAL))
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw FailedCall("socket") }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size) == 0 else {
            throw FailedCall("setsockopt")
        }
        #if canImport(Darwin)
        // In place of the flags that Linux has: no signal, and not for children.
        var yes = Int32(1)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.prefix(capacity)) }
        // The length says where an abstract name ends, since it may contain NULs.
        let length = socklen_t(MemoryLayout<sockaddr_un>.size - capacity + min(path.count, capacity))
        let sent = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, data, data.count, flags, $0, length)
            }
        }
        guard sent >= 0 else { throw FailedCall("sendto") }
    }
}
