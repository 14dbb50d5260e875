internal import Foundation
internal import Holdfast
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

extension Dialer {
    /// What went wrong at one address, in words that name the thing, and whether somebody has to mend it.
    func describe(_ error: any Error, at dialed: DialedAddress) -> ConnectError {
        switch error {
        case let error as ConnectError:
            return error
        case let error as NoAnswer:
            return ConnectError(.temporary, "\(endpoint) (\(dialed.text)) did not answer within \(error.limit)")
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return ConnectError(
                .configuration,
                "the certificate of \(endpoint) is for another host name: it does not name \(serverName ?? host)")
        case let error as NIOSSLError:
            return describe("\(error)")
        case let error as BoringSSLError:
            return describe("\(error)")
        default:
            let what = proxy.map { "the proxy \($0)" } ?? endpoint
            return ConnectError(.temporary, "\(what) can't be reached: \(dialed.text): \(Self.cause(error))")
        }
    }

    /// BoringSSL's words in ours.
    private func describe(_ text: String) -> ConnectError {
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            return ConnectError(
                .configuration, "the certificate of \(endpoint) is not trusted: it is not signed by \(trusted)")
        }
        if text.contains("_ALERT_") {
            let isOurs = ["CERTIFICATE", "UNKNOWN_CA", "ACCESS_DENIED"].contains { text.contains($0) }
            if isOurs {
                return ConnectError(.configuration, "\(endpoint) refuses the certificate we show, or its lack: \(text)")
            }
        }
        return ConnectError(.temporary, "TLS with \(endpoint) failed: \(text)")
    }

    /// All addresses have failed, or there was no time for more. What somebody has to mend is not hidden behind what passes.
    func summary(of failures: [ConnectError]) -> ConnectError {
        if let error = failures.first(where: { $0.kind == .configuration }) { return error }
        guard let first = failures.first else {
            return ConnectError(.temporary, "\(endpoint) did not answer within \(deadline)")
        }
        guard failures.count > 1 else { return first }
        return ConnectError(.temporary, failures.prefix(4).map(\.message).joined(separator: "; "))
    }

    private var trusted: String {
        switch trust {
        case .system: "the system's certificate authorities"
        case .file(let path): path
        case .pem: "the configured certificates"
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
