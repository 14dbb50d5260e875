internal import Holdfast

/// The body of `projects.messages.send` as senders write it: `{"validate_only":…,"message":{…}}` (firebase.google.com: *Method:
/// projects.messages.send*).
package struct FCMSendBody: Sendable {
    /// Whether the message is only to be checked.
    package private(set) var validatesOnly = false
    package let message: FCMMessage

    /// - Throws: ``FCMMessageFault`` in Google's words.
    package init(_ bytes: [UInt8]) throws(FCMMessageFault) {
        var validatesOnly = false
        var message: JSONValue?
        var fault: FCMMessageFault?
        do throws(JSONFault) {
            var members = try JSONMembers(bytes.span, in: 0..<bytes.count)
            while let member = try members.next(bytes.span) {
                let name = try JSONScanner.string(bytes.span, in: member.name)
                switch (name, member.value.kind) {
                case ("message", .object): message = member.value
                case ("message", .null), ("validateOnly", .null), ("validate_only", .null): break
                case ("validateOnly", .boolean), ("validate_only", .boolean):
                    validatesOnly = bytes[member.value.range.lowerBound] == UInt8(ascii: "t")
                case ("message", _): fault = fault ?? FCMMessageFault(invalid: "message", "an object")
                case ("validateOnly", _), ("validate_only", _):
                    fault = fault ?? FCMMessageFault(invalid: "validate_only", "TYPE_BOOL")
                default:
                    fault =
                        fault
                        ?? FCMMessageFault(
                            "Invalid JSON payload received. Unknown name \"\(name.prefix(64))\": Cannot find field.")
                }
            }
        } catch {
            throw FCMMessageFault(error)
        }
        if let fault { throw fault }
        guard let message else { throw FCMMessageFault("The message is not set.", field: "message") }
        self.validatesOnly = validatesOnly
        self.message = try FCMMessage(reading: bytes, in: message.range)
    }
}
