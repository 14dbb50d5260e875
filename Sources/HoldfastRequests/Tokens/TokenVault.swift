package import Holdfast
package import HoldfastTransport

/// The credentials of a connector that authorizes each request: a ``CredentialVault`` and a token. The engines' journals keep
/// valid tokens for the next process.
package final class TokenVault<Contents: TokenContents>: Sendable {
    private let files: CredentialVault<Contents>

    /// Reads the credentials for the first time. The parameters are those of ``CredentialVault``.
    ///
    /// - Throws: the errors of `read`.
    package init(
        files paths: [String], reloadEvery: Duration?, clock: EngineClock,
        read: @escaping CredentialVault<Contents>.Reading
    ) throws(TransportConfigurationError) {
        files = try CredentialVault(files: paths, reloadEvery: reloadEvery, clock: clock, read: read)
        files.onSwap { [weak self] fresh in
            guard let self else { return }
            fresh.tokens?.keepers.add(self)
        }
        files.onLook { $0.tokens?.look() }
    }

    /// The credentials for new connections.
    package var current: CredentialVault<Contents>.Current { files.current }

    /// An engine serves the connector from now on: its journal may know a token, and files are watched.
    package func begin(_ host: ConnectorHost) {
        guard let tokens = files.begin(host).tokens else { return }
        if let note = host.note(tokens.noteName) { tokens.restore(note) }
        tokens.keepers.add(self)
        // Another engine's, or another route's: this journal has to know it as well.
        if let note = tokens.note { host.setNote(tokens.noteName, to: note) }
    }

    /// A connection that was opened with credentials of this generation.
    package func adopt(_ connection: any RetirableConnection, generation: Int) {
        files.adopt(connection, generation: generation)
    }

    /// Reads all files again, and uses them from now on.
    ///
    /// - Throws: the fault; the credentials in use then stay in use.
    package func reload() async throws(TransportConfigurationError) { try await files.reload() }

    /// Reads what has changed, and tells what is to be told. One at a time.
    package func look() { files.look() }
}

extension TokenVault: TokenKeeper {
    package func keep(_ tokens: any KeptTokens, endsRefusal: Bool) {
        // It may be an event loop that has it.
        files.perform { [weak self] in
            guard let self, let note = tokens.note, let own = self.current.contents.tokens, tokens === own else {
                return
            }
            for host in self.files.hosts {
                host.setNote(tokens.noteName, to: note)
                if endsRefusal { host.credentialsChanged() }
            }
        }
    }
}
