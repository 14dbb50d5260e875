package import HoldfastControl
internal import ServiceLifecycle

/// The control socket, without which everything else goes on.
package struct ControlService: Service {
    private let control: ControlSocket
    /// Told why it is not there.
    private let failed: @Sendable (any Error) -> Void

    package init(control: ControlSocket, failed: @escaping @Sendable (any Error) -> Void) {
        (self.control, self.failed) = (control, failed)
    }

    package func run() async throws {
        do {
            try await control.run()
        } catch {
            failed(error)
            try await gracefulShutdown()
        }
    }
}
