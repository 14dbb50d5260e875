internal import HoldfastPlatform

/// How sure a connection is of its server, and of being alone with it. libpq's `sslmode`.
package enum PQSecurity: String, Hashable, Sendable, CaseIterable {
    case disable
    case allow
    case prefer
    case require
    case verifyAuthority = "verify-ca"
    case verifyFull = "verify-full"

    /// Where the string says nothing: the server's certificate and name are verified, unless nobody else can listen.
    static func standard(for place: PQPlace) -> PQSecurity { place.isLocal ? .prefer : .verifyFull }

    var needsRoot: Bool { self == .verifyAuthority || self == .verifyFull }
}

/// The certificates of authorities that the system trusts, for a string that names none.
enum SystemRoots {
    private static let places = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    static var path: String? { places.first(where: isReadable) }

    static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }
}
