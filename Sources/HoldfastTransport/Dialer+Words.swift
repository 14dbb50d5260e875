internal import Foundation
internal import Holdfast
internal import HoldfastOpenSSL
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

extension Dialer {
    /// The failure at one address, in words that name the cause, and whether the configuration has to be mended.
    func describe(_ error: any Error, at dialed: DialedAddress) -> ConnectError {
        switch error {
        case let error as ConnectError:
            return error
        case let error as NoAnswer:
            return ConnectError(
                .temporary, "\(endpoint) (\(dialed.text)) did not answer within \(error.limit.words)",
                advice: Self.silenceAdvice)
        case let error as BadCertificate:
            return ConnectError(.configuration, describe(error.fault), advice: advice(on: error.fault))
        case let error as NIOSSLError:
            return describe(handshake: "\(error)")
        case let error as BoringSSLError:
            return describe(handshake: "\(error)")
        default:
            let what = proxy.map { "the proxy \($0)" } ?? endpoint
            return ConnectError(
                .temporary, "\(what) can't be reached: \(dialed.text): \(Self.cause(error))",
                advice: Self.unreachableAdvice)
        }
    }

    /// The fault of the service's certificate, and who can mend it.
    private func describe(_ fault: CertificateFault) -> String {
        let certificate = "the certificate of \(endpoint)"
        switch fault {
        case .missing: return "\(endpoint) shows no certificate"
        case .expired(let end, let authority):
            return Self.dated(
                certificate, of: authority, "has expired", end.map { "on \(ClientCertificate.text($0))" },
                "whoever runs it has to renew it, unless this machine's clock is wrong")
        case .expiredAndUntrusted(let end, let issuer):
            return Self.dated(
                certificate, of: nil, "has expired", "on \(ClientCertificate.text(end))",
                "whoever runs it has to renew it, unless this machine's clock is wrong")
                + "; besides, it is not signed by \(trusted), but by \(issuer ?? "itself")"
        case .notYetValid(let start, let authority):
            return Self.dated(
                certificate, of: authority, "is not valid yet", start.map { "before \(ClientCertificate.text($0))" },
                "this machine's clock may be wrong")
        case .otherName(let names):
            let others = names.isEmpty ? "nor anybody" : "but \(Self.list(names))"
            return "\(certificate) is for another host name: it does not name \(Self.text(expectedName)), \(others)"
        case .untrusted(let issuer):
            return "\(certificate) is not trusted: it is not signed by \(trusted), but by \(issuer)"
        case .selfSigned:
            return "\(certificate) is not trusted: it is not signed by \(trusted), but by itself"
        case .otherPurpose:
            return "\(certificate), or one that leads to it, is not for TLS servers: its key usage says otherwise"
        case .revoked: return "\(certificate) has been revoked"
        case .unlisted(let issuer): return "\(certificate) may be revoked: no revocation list of \(issuer) is known"
        case .outdatedList(let issuer):
            return "\(certificate) may be revoked: the revocation list of \(issuer) is out of date"
        case .forgedList(let issuer):
            return "\(certificate) may be revoked: the revocation list of \(issuer) is not signed with its key"
        case .other(let words): return "\(certificate) is not good: \(words)"
        }
    }

    private static func dated(
        _ certificate: String, of authority: String?, _ what: String, _ when: String?, _ remedy: String
    ) -> String {
        let whose = authority.map { " leads to that of \($0), which" } ?? ""
        return "\(certificate)\(whose) \(what)\(when.map { " (\($0))" } ?? ""): \(remedy)"
    }

    private static func list(_ names: [SubjectName]) -> String {
        let shown = names.prefix(4).map(text).joined(separator: ", ")
        return names.count > 4 ? "\(shown) and \(names.count - 4) others" : shown
    }

    /// The name with its kind: the entry for a host may hold an address, which proves none.
    private static func text(_ name: SubjectName) -> String {
        switch name {
        case .ip(let address): return "the address \(address)"
        case .dns(let host):
            // The other side has written it: a space at its end, or a letter that only looks like another, is to be seen.
            let shown = host.unicodeScalars.prefix(255).map { $0.escaped(asASCII: true) }.joined()
            return "the host \u{22}\(shown)\u{22}"
        }
    }

    /// BoringSSL's words in ours, where they are known.
    func describe(handshake error: String) -> ConnectError {
        let text = Self.plain(error)
        if error.contains("HANDSHAKE_FAILURE"), tls?.lacksCertificate == true {
            return ConnectError(
                .configuration, "\(endpoint) asked for a certificate, was shown none, and ended the handshake",
                advice: HandshakeAdvice.giveOurs)
        }
        for (word, kind, meaning, advice) in Self.handshakeFailures where error.contains(word) {
            return ConnectError(kind, "\(endpoint) \(meaning) (\(text))", advice: advice)
        }
        return ConnectError(.temporary, "TLS with \(endpoint) failed: \(text)", advice: Self.silenceAdvice)
    }

    /// The reasons of an error of BoringSSL, without numbers and the places in its sources.
    private static func plain(_ error: String) -> String {
        var reasons: [Substring] = []
        for match in error.matches(of: /OPENSSL_internal:([A-Z0-9_]+)/) where !reasons.contains(match.1) {
            reasons.append(match.1)
        }
        if !reasons.isEmpty { return reasons.joined(separator: ", ") }
        if error.contains("eofDuringHandshake") || error.contains("EOF during handshake") {
            return "the connection ended in the middle of the handshake"
        }
        return error.replacing(/\ at \/[^ ]*:[0-9]+/, with: "")
    }

    /// A part of BoringSSL's error, whether the configuration has to be mended, the meaning, and what to do. The first match
    /// counts.
    private static let handshakeFailures: [(String, ConnectError.Kind, String, String)] = [
        (
            "KEY_USAGE_BIT_INCORRECT", .configuration,
            "shows a certificate that is not for TLS servers: its key usage lacks digitalSignature; whoever runs it has to "
                + "replace it", HandshakeAdvice.replaceTheirs
        ),
        (
            "ALERT_CERTIFICATE_EXPIRED", .configuration, "says that the certificate we show has expired",
            HandshakeAdvice.replaceOurs
        ),
        (
            "ALERT_CERTIFICATE_REVOKED", .configuration, "says that the certificate we show has been revoked",
            HandshakeAdvice.replaceOurs
        ),
        (
            "ALERT_UNKNOWN_CA", .configuration, "does not know who has signed the certificate we show",
            HandshakeAdvice.replaceOurs
        ),
        (
            "ALERT_CERTIFICATE_REQUIRED", .configuration, "wants a certificate, and we show none",
            HandshakeAdvice.giveOurs
        ),
        (
            "ALERT_BAD_CERTIFICATE", .configuration, "refuses the certificate we show, or its lack",
            HandshakeAdvice.replaceOurs
        ),
        (
            "CERTIFICATE_", .configuration, "refuses the certificate we show, or its lack",
            HandshakeAdvice.replaceOurs
        ),
        (
            "ALERT_ACCESS_DENIED", .configuration, "refuses us by the certificate we show, or for its lack",
            HandshakeAdvice.replaceOurs
        ),
        (
            "ALERT_UNRECOGNIZED_NAME", .configuration, "knows nobody of the name that was asked for",
            HandshakeAdvice.mendName
        ),
        (
            "NO_APPLICATION_PROTOCOL", .temporary, "speaks another protocol than is spoken here",
            HandshakeAdvice.otherServer
        ),
        (
            "PROTOCOL_VERSION", .temporary, "speaks no TLS of version 1.2 or newer",
            HandshakeAdvice.lookCloser
        ),
        (
            "UNSUPPORTED_PROTOCOL", .temporary, "speaks no TLS of version 1.2 or newer",
            HandshakeAdvice.lookCloser
        ),
        (
            "WRONG_VERSION_NUMBER", .temporary, "does not speak TLS on this port",
            HandshakeAdvice.otherServer
        ),
        (
            "HANDSHAKE_FAILURE", .temporary,
            "finds no cipher or kind of certificate in common with us, or refuses the one we show",
            HandshakeAdvice.lookCloser
        ),
    ]

    /// Sums up the failures of all addresses tried. A failure that has to be mended is not hidden behind a temporary
    /// one.
    func summary(of failures: [ConnectError]) -> ConnectError {
        if let error = failures.first(where: { $0.kind == .configuration }) { return error }
        guard let first = failures.first else {
            return ConnectError(
                .temporary, "\(endpoint) did not answer within \(deadline.words)", advice: Self.silenceAdvice)
        }
        guard failures.count > 1 else { return first }
        return ConnectError(
            .temporary, failures.prefix(4).map(\.message).joined(separator: "; "), advice: first.advice)
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
            return FileFailure.words(ofSystem: Int(error.errnoCode))
        case is NIOSSLError, is BoringSSLError:
            return "TLS: \(plain("\(error)"))"
        case ChannelError.connectTimeout(let limit):
            return "no answer within \(Duration.nanoseconds(limit.nanoseconds).words)"
        default:
            return "\(error)"
        }
    }
}
