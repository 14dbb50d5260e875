internal import HoldfastOpenSSL

/// What an operator does about a failure at a service.
extension Dialer {
    /// - Parameter fault: of the service's certificate.
    func advice(on fault: CertificateFault) -> String {
        switch fault {
        case .missing: "see to host and port of the endpoint: a TLS server shows a certificate"
        case .expired, .expiredAndUntrusted:
            "tell whoever runs the service to renew it; before, see that this machine's clock is right (`timedatectl`)"
        case .notYetValid:
            "set this machine's clock, and have it kept right (`timedatectl set-ntp true`); if it is right, tell whoever "
                + "runs the service"
        case .otherName:
            "if it is the right server, name it by `server-name`, as its certificate does; else mend the endpoint, or what "
                + "this machine resolves its name to"
        case .untrusted, .selfSigned:
            "if it is the right server, name a PEM file with the authority that has signed it by `trust`; else something is "
                + "in between: see to the endpoint, the proxy and this machine's hosts file"
        case .otherPurpose, .revoked:
            "tell whoever runs the service: it needs another certificate. Do not trust this one"
        case .unlisted, .outdatedList, .forgedList: "put a current revocation list into the file that `trust` names"
        case .other: "see that the endpoint is the right one, and tell whoever runs the service"
        }
    }

    enum HandshakeAdvice {
        static let replaceTheirs = "tell whoever runs the service: it needs another certificate"
        static let replaceOurs =
            "put a client certificate that the service takes in the place of ours: it is taken up without a restart"
        static let giveOurs = "configure a client certificate: the service takes nobody without"
        static let mendName = "see to the host of the endpoint, and to `server-name`"
        static let otherServer =
            "see to host and port of the endpoint: another kind of server listens there, or something is in between"
        static let lookCloser =
            "see what the server offers (`openssl s_client -connect HOST:PORT`), and tell whoever runs it"
    }

    /// About a service that says nothing, or not all of it.
    static let silenceAdvice =
        "see that a service listens at this host and port, and whether a firewall or proxy in between lets through no more "
        + "than the connection: `openssl s_client -connect HOST:PORT` shows how far it comes"
    /// About an address to which there is no connection.
    static let unreachableAdvice =
        "see to host and port of the endpoint, that the server runs, and that the firewall allows TCP there"
    /// About a name without an address.
    static let nameAdvice =
        "see to the name, to /etc/resolv.conf and to the network: `getent ahosts HOST` asks the same"
}
