package import Holdfast
package import HoldfastRequests

/// One webhook: which outcomes go where, and how.
package struct WebhookConfiguration: Hashable, Sendable {
    /// Part of the reader's name in the journal, of the ids of requests, and of metrics.
    package var name: String
    package var address: PostAddress
    package var secret: WebhookSecret
    /// The Producers whose outcomes it gets; nil for all.
    package var producers: Set<String>?
    /// The outcomes that it gets, by the words of `TerminalOutcome`; nil for all.
    package var endings: Set<String>?
    /// The most outcomes of a request.
    package var batch = 500
    /// The timeout of a request, from its first byte to the end of the answer.
    package var timeout: Duration = .seconds(30)
    /// When a request that failed is repeated.
    package var retry = RetrySchedule(minimum: .seconds(1), maximum: .seconds(300))
    /// The authorities that may have signed the receiver's certificate.
    package var trust = TrustedCertificates.system
    package var proxy: ProxyServer?

    package init(name: String, address: PostAddress, secret: WebhookSecret) {
        (self.name, self.address, self.secret) = (name, address, secret)
    }

    /// The most outcomes of a request that can be configured.
    package static let greatestBatch = 1000

    /// The name of its reader in the journal.
    package var reader: String { Self.readerPrefix + name }
    package static let readerPrefix = "webhook/"

    /// The receiver.
    package var target: PostTarget { PostTarget(address: address, trust: trust, proxy: proxy) }

    /// Whether it gets this outcome.
    func wants(_ outcome: Outcome) -> Bool {
        (producers?.contains(outcome.producer) ?? true) && (endings?.contains(outcome.terminal.word) ?? true)
    }
}
