package import Holdfast
internal import HoldfastRequests
package import HoldfastTransport
package import HoldfastWebhooks

/// A webhook whose files are read, and are what they should be.
package struct ReadyWebhook {
    package let configuration: WebhookConfiguration

    /// - Throws: ``UnusableWebhook``, which names the key that is wrong.
    package init(_ settings: WebhookSettings) throws(UnusableWebhook) {
        let address: PostAddress
        do throws(TransportConfigurationError) { address = try PostAddress(webhook: settings.url) } catch {
            throw UnusableWebhook(key: "url", message: error.message)
        }
        var configuration = WebhookConfiguration(
            name: settings.name, address: address, secret: try Self.secret(settings))
        configuration.producers = settings.producers.map(Set.init)
        configuration.endings = settings.endings.map(Set.init)
        (configuration.batch, configuration.timeout) = (settings.batch, settings.timeout)
        (configuration.retry, configuration.proxy) = (settings.retry, settings.proxy)
        if let file = settings.trust { configuration.trust = .file(file) }
        do throws(TransportConfigurationError) { try configuration.target.check() } catch {
            throw UnusableWebhook(key: "trust", message: error.message)
        }
        self.configuration = configuration
    }

    /// The way to the receiver.
    ///
    /// - Throws: ``ConnectError`` that names a file that is missing or invalid.
    package func dialer(within limit: Duration) throws(ConnectError) -> Dialer {
        try configuration.target.dialer(within: limit)
    }

    /// Everything that is wrong: what is found is taken away, and the rest looked at.
    ///
    /// - Parameter known: keys that are known to be wrong, and not looked at.
    package static func mistakes(_ settings: WebhookSettings, except known: Set<String>) -> [UnusableWebhook] {
        var settings = settings
        func mend(_ key: String) {
            switch key {
            case "url": settings.url = "https://localhost"
            case "trust": settings.trust = nil
            default:
                settings.secretFile = nil
                settings.secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            }
        }
        for key in known { mend(key) }
        var mistakes: [UnusableWebhook] = []
        for _ in 0..<3 {
            do throws(UnusableWebhook) {
                _ = try ReadyWebhook(settings)
                break
            } catch {
                mistakes.append(error)
                mend(error.key)
            }
        }
        return mistakes
    }

    private static func secret(_ settings: WebhookSettings) throws(UnusableWebhook) -> WebhookSecret {
        guard let file = settings.secretFile else {
            do throws(WebhookSecret.Fault) { return try WebhookSecret(settings.secret ?? "") } catch {
                throw UnusableWebhook(key: "secret", message: error.message)
            }
        }
        let bytes: [UInt8]
        do throws(TransportConfigurationError) { bytes = try ConfigurationFile.read(file, as: "secret file") } catch {
            throw UnusableWebhook(key: "secret-file", message: error.message)
        }
        if let objection = Self.objection(to: file) {
            throw UnusableWebhook(key: "secret-file", message: objection)
        }
        do throws(WebhookSecret.Fault) {
            return try WebhookSecret(String(decoding: bytes.prefix(4096), as: UTF8.self))
        } catch {
            throw UnusableWebhook(key: "secret-file", message: "the file \(file) \(error.message)")
        }
    }

    /// Whoever reads the secret can tell a receiver outcomes of their own.
    private static func objection(to file: String) -> String? {
        do { return try SecretFile.objection(to: file) } catch {
            return "the file \(file) can't be read: \(FileFailure.words(error))"
        }
    }
}

/// A webhook that can't be used.
package struct UnusableWebhook: Error, Hashable, CustomStringConvertible {
    /// The key that is wrong.
    package let key: String
    package let message: String

    package var description: String { "\(key): \(message)" }
}
