package import Holdfast

/// A fault of a message, in Google's words, with the field that has it.
package struct FCMMessageFault: Error, Hashable, Sendable {
    package let description: String
    /// `message.token`; nil where no field is wrong.
    package let field: String?
    /// Whether the target can be no device, topic or condition.
    private let isOfAddress: Bool

    init(_ description: String, field: String? = nil, isOfAddress: Bool = false) {
        (self.description, self.field, self.isOfAddress) = (description, field, isOfAddress)
    }

    /// - Parameter type: what belongs there.
    init(invalid field: String, _ type: String) {
        self.init("Invalid value at '\(field)' (\(type))", field: field)
    }

    /// Bytes that are no JSON.
    init(_ fault: JSONFault) {
        self.init("Invalid JSON payload received. \(fault.reason.rawValue), at byte \(fault.offset).")
    }

    /// The same for whoever does not come by Google's interface.
    package var refusal: Refusal {
        let words = description.hasSuffix(".") ? String(description.dropLast()) : description
        return Refusal(isOfAddress ? .badAddress : .fcmInvalidArgument, words)
    }
}
