package import Holdfast
package import HoldfastControl

/// One ended notification as it is listed.
package struct OutcomeRow: Sendable {
    package private(set) var form: OutcomeForm
    package let outcome: Outcome
    /// Where the blacklist has the token.
    private let blacklisted: BlacklistForm?

    /// - Parameters:
    ///   - blacklisted: where the blacklist has the token, for who asks for one notification.
    ///   - reveal: whether to show token, context and payload whole.
    package init(_ outcome: Outcome, blacklisted: BlacklistEntry? = nil, tellsStory: Bool = false, reveal: Bool) {
        self.outcome = outcome
        form = OutcomeForm(outcome, isWhole: reveal, tellsStory: tellsStory)
        if !reveal { (form.payload, form.context) = (nil, nil) }
        self.blacklisted = blacklisted.map { BlacklistForm($0, isWhole: reveal) }
    }

    // MARK: JSON

    private struct Line: Encodable {
        var form: OutcomeForm
        var place: FleetPlaceForm?
        /// As entries of the journal have one.
        var state: String?
        var blacklisted: BlacklistForm?
        var summary: String?
        var explanation: [String]?

        private enum CodingKeys: String, CodingKey { case state, blacklisted, summary, explanation }

        /// In one object.
        func encode(to encoder: any Encoder) throws {
            try form.encode(to: encoder)
            try place?.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(state, forKey: .state)
            try container.encodeIfPresent(blacklisted, forKey: .blacklisted)
            try container.encodeIfPresent(summary, forKey: .summary)
            try container.encodeIfPresent(explanation, forKey: .explanation)
        }
    }

    /// Among others of the log.
    package func json() throws -> String { try Form.text(Line(form: form)) }

    /// Among entries of the journal.
    ///
    /// - Parameters:
    ///   - explanation: of it, where it was asked for alone.
    ///   - place: where it is, if the command asks several journals.
    package func entryJSON(_ explanation: EntryExplanation? = nil, at place: FleetPlaceForm? = nil) throws -> String {
        try Form.text(
            Line(
                form: form, place: place, state: "settled", blacklisted: blacklisted, summary: explanation?.summary,
                explanation: explanation?.sentences))
    }
}
