internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastRequests
internal import HoldfastTransport

/// The source of the access tokens that authorize requests. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum FCMAuthorization: Sendable {
    /// Access tokens are fetched for this account.
    case serviceAccount(ServiceAccount)
    /// A command prints them.
    case command(TokenCommand)

    /// The account's project; `nil` for a command.
    var project: String? { if case .serviceAccount(let account) = self { account.projectID } else { nil } }

    /// The source, for people: `the service account sender@… of the project …, key …`.
    package var words: String {
        switch self {
        case .serviceAccount(let account):
            "the service account \(account.clientEmail) of the project \(account.projectID)"
                + (account.keyID.isEmpty ? "" : ", key \(account.keyID)")
        case .command(let command): "access tokens of the command \(command.words.first ?? "")"
        }
    }

    /// The paths of its files.
    var files: [String] { if case .serviceAccount(let account) = self { account.files } else { [] } }
}

/// A connector's credentials and trusted certificates, read at one time.
struct FCMCredentials: TokenContents {
    let tokens: AccessTokenSource?
    let tls: TLSCredentials
    let text: String

    /// Reads everything.
    ///
    /// - Parameter generation: 1 takes the service account as it is, which was read a moment ago.
    /// - Throws: an error that names the file that is missing, or is not what it should be.
    init(_ configuration: FCMConnector.Configuration, generation: Int) throws(TransportConfigurationError) {
        var words: [String] = []
        switch configuration.authorization {
        case .serviceAccount(let given):
            let account: ServiceAccount
            do throws(FCMConfigurationError) { account = generation == 1 ? given : try given.reloaded() } catch {
                throw TransportConfigurationError(error.message)
            }
            guard account.projectID == given.projectID else {
                throw TransportConfigurationError(
                    "the \(account.source.named("service account")) is now of the project \(account.projectID), and not of "
                        + "\(given.projectID): a route is for one project")
            }
            tokens = configuration.tokens.source(
                name: account.clientEmail, fingerprint: account.fingerprint, isShared: true,
                fetcher: AssertionFetcher(
                    account, trust: configuration.trust, proxy: configuration.proxy,
                    addresses: configuration.tokenAddresses(of: account.tokenAddress.host)))
            words.append(
                "the \(account.source.named("service account")) (\(account.clientEmail), key \(account.keyID))")
        case .command(let command):
            let fingerprint = command.fingerprint
            tokens = configuration.tokens.source(
                // What a command prints may be the machine's own.
                name: "command/\(Hex.string(fingerprint.prefix(8)))", fingerprint: fingerprint, isShared: false,
                fetcher: CommandFetcher(command: command))
        }
        tls = try TLSCredentials(
            certificate: nil, trust: configuration.endpoint.isCleartext ? nil : configuration.trust, protocols: ["h2"],
            now: configuration.clock.wall())
        text = (words + [tls.text]).filter { !$0.isEmpty }.joined(separator: "; ")
    }

    var certificateEnd: (named: String, notAfter: Int64)? { nil }
    var serviceEnd: Int64? { tls.serviceEnd }

    func isSame(as other: FCMCredentials) -> Bool { tokens === other.tokens && tls.isSame(as: other.tls) }
}
