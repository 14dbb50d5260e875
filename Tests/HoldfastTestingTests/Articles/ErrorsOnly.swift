import Holdfast

/// Stands for the frames of the protocol that you speak.
protocol FrameSocket: Sendable {
    func write(_ notification: PushNotification, identifier: UInt32) async throws
}

func connectorThatIsToldOfErrors(over socket: any FrameSocket, errors: PayloadErrors) -> SenderConnector {
    SenderConnector(confirmation: .cumulative(quietPeriod: .seconds(5)), payloadErrors: errors) {
        notification, position in
        try await socket.write(notification, identifier: UInt32(truncatingIfNeeded: position))
    }
}

/// Where the error response is read, with the position that it names.
func refuse(_ position: UInt64, in errors: PayloadErrors) {
    errors.refused(position, SendResult(.rejected(.token), reason: Reason(rawValue: "InvalidToken")))
}
