import Foundation
import Holdfast

/// A datagram socket as systemd has one for each service, and what was said there.
final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32
    private let said = Monitor<[String]>([])

    struct Failure: Error { var code: Int32 }

    /// - Parameter path: at most 107 bytes. Behind `@` an abstract name.
    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            precondition(path.utf8.count < bytes.count)
            unsafe bytes.copyBytes(from: path.utf8)
            if path.hasPrefix("@") { unsafe bytes[0] = 0 }
        }
        // An abstract name ends where the address does.
        let length =
            path.hasPrefix("@")
            ? MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + path.utf8.count : MemoryLayout<sockaddr_un>.size
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(length))
            }
        }
        guard result == 0 else { throw Failure(code: errno) }
        let thread = Thread { [descriptor, said] in
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
                guard count > 0 else { return }
                let text = String(decoding: bytes[..<count], as: UTF8.self)
                said.withLock { $0.append(text) }
            }
        }
        thread.start()
    }

    deinit {
        // Ends the thread, which waits in it.
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        _ = close(descriptor)
    }

    var heard: [String] { said.withLock { $0 } }
}
