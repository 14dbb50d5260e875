internal import Foundation
package import Holdfast
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

extension Dialer {
    /// What went wrong, in words that name the thing, and whether somebody has to mend it.
    package func describe(_ error: any Error) -> ConnectError {
        switch error {
        case let error as ConnectError:
            return error
        case let error as NIOConnectionError:
            let causes = error.connectionErrors.map { "\($0.target): \(Self.cause($0.error))" }
            let dns = [error.dnsAError, error.dnsAAAAError].compactMap { $0 }.map { "\($0)" }
            let why = causes.isEmpty ? dns.joined(separator: "; ") : causes.joined(separator: "; ")
            return ConnectError(.temporary, "\(endpoint) can't be reached: \(why)")
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return ConnectError(
                .configuration, "the certificate of \(endpoint) is for another host name: it does not name \(host)")
        case let error as NIOSSLError:
            let text = "\(error)"
            if text.contains("CERTIFICATE_VERIFY_FAILED") {
                return ConnectError(
                    .configuration, "the certificate of \(endpoint) is not trusted: it is not signed by \(trusted)")
            }
            return ConnectError(.temporary, "TLS with \(endpoint) failed: \(text)")
        default:
            return ConnectError(.temporary, "\(endpoint): \(Self.cause(error))")
        }
    }

    private var trusted: String {
        switch trust {
        case .system: "the system's certificate authorities"
        case .file(let path): path
        }
    }

    /// An error of the socket in words: NIO's own name the system call.
    package static func cause(_ error: any Error) -> String {
        switch error {
        case let error as IOError:
            let text = NSError(domain: NSPOSIXErrorDomain, code: Int(error.errnoCode)).localizedDescription
            return text.split(separator: ". ").last.map(String.init) ?? text
        case ChannelError.connectTimeout(let limit):
            return "no answer within \(limit.nanoseconds / 1_000_000_000) s"
        default:
            return "\(error)"
        }
    }
}
