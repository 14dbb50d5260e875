package import Holdfast

/// Whom a notification is for, with one of the three.
package struct RecipientForm: Codable, Hashable, Sendable {
    package var token: String?
    package var channel: String?
    /// Another service's address, by its ``ServiceAddress/notation``.
    package var address: String?

    package enum CodingKeys: String, CodingKey, CaseIterable { case token, channel, address }

    package init(token: String? = nil, channel: String? = nil, address: String? = nil) {
        (self.token, self.channel, self.address) = (token, channel, address)
    }

    /// - Parameter isWhole: whether to give a token or an address whole, or shortened for display. A channel's id is no
    ///   secret, and always whole.
    package init(_ recipient: Recipient, isWhole: Bool = true) {
        token = recipient.token.map { isWhole ? $0.hex : $0.shortened }
        channel = recipient.channel?.id
        address = recipient.serviceAddress.map { isWhole ? $0.notation : "\($0)" }
    }

    /// The one that there is.
    package var text: String { token ?? channel ?? address ?? "" }

    func value() throws(ControlError) -> Recipient {
        do throws(Refusal) {
            switch (token, channel, address) {
            case (let token?, nil, nil): return .device(try DeviceToken(token))
            case (nil, let channel?, nil): return .channel(try BroadcastChannel(channel))
            case (nil, nil, let address?): return .service(try ServiceAddress(notation: address))
            default: break
            }
        } catch {
            throw .malformed(error.detail)
        }
        throw .malformed("a notification has none or several of token, channel and address: give one of them")
    }
}
