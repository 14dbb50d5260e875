internal import Holdfast
internal import HoldfastTransport

/// The credentials of a connector over HTTP/2: a ``CredentialVault`` and provider tokens. The engines' journals keep valid
/// tokens for the next process.
final class TokenVault: Sendable {
    private let files: CredentialVault<Credentials>

    /// - Throws: ``APNsConfigurationError`` that names the file that is missing, or is not what it should be.
    init(_ configuration: APNsConnector.Configuration) throws(APNsConfigurationError) {
        do throws(TransportConfigurationError) {
            files = try CredentialVault(
                files: configuration.credentialFiles, reloadEvery: configuration.reloadEvery,
                clock: configuration.clock
            ) { (generation) throws(TransportConfigurationError) in
                do throws(APNsConfigurationError) {
                    return try Credentials(configuration, generation: generation)
                } catch {
                    throw TransportConfigurationError(error.message)
                }
            }
        } catch {
            throw APNsConfigurationError(error.message)
        }
        files.onSwap { [weak self] fresh in
            guard let self else { return }
            fresh.tokens?.add(self)
        }
        files.onLook { contents in
            do throws(APNsConfigurationError) {
                try contents.tokens?.rescue()
            } catch {
                // The next request for a token gets the error.
            }
        }
    }

    /// The credentials for new connections.
    var current: CredentialVault<Credentials>.Current { files.current }

    /// An engine serves the connector from now on: its journal may know a token, and files are watched.
    func begin(_ host: ConnectorHost) {
        guard let tokens = files.begin(host).tokens else { return }
        if let note = host.note(tokens.noteName) { tokens.restore(note) }
        tokens.add(self)
        // Another engine's, or another route's: this journal has to know it as well.
        if let note = tokens.note { host.setNote(tokens.noteName, to: note) }
    }

    /// A connection that was opened with credentials of this generation.
    func adopt(_ connection: any RetirableConnection, generation: Int) {
        files.adopt(connection, generation: generation)
    }

    /// Reads all files again, and uses them from now on.
    ///
    /// - Throws: the fault; the credentials in use then stay in use.
    func reload() async throws(APNsConfigurationError) {
        do throws(TransportConfigurationError) {
            try await files.reload()
        } catch {
            throw APNsConfigurationError(error.message)
        }
    }

    /// Reads what has changed, and tells what is to be told. One at a time.
    func look() { files.look() }
}

extension TokenVault: ProviderTokenSource.Keeper {
    func keep(_ source: ProviderTokenSource, endsRefusal: Bool) {
        // It may be an event loop that minted.
        files.perform { [weak self] in
            guard let self, let note = source.note, source === self.current.contents.tokens else { return }
            for host in self.files.hosts {
                host.setNote(source.noteName, to: note)
                if endsRefusal { host.credentialsChanged() }
            }
        }
    }
}
