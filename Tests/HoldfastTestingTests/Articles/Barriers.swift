import Holdfast

/// Stands for the socket of the sender that you have.
protocol AppSocket: Sendable {
    func write(_ notification: PushNotification, identifier: UInt32) async throws
    func writeBarrier(identifier: UInt32) async throws
}

func connectorWithProof(over socket: any AppSocket, errors: PayloadErrors) -> SenderConnector {
    SenderConnector(
        confirmation: .cumulative(quietPeriod: nil), payloadErrors: errors,
        barrier: { position in try await socket.writeBarrier(identifier: UInt32(truncatingIfNeeded: position)) },
        send: { notification, position in
            try await socket.write(notification, identifier: UInt32(truncatingIfNeeded: position))
        })
}
