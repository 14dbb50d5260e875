internal import Holdfast
internal import HoldfastControl

extension EntryFacts {
    /// Where the journal has the entry no more. The coding keys are those of the JSON.
    private struct Settled: Encodable {
        var place: FleetPlaceForm?
        var uid: UInt64
        var end: EndForm
        var explanation: [String]

        private enum CodingKeys: String, CodingKey { case uid, state, explanation }

        /// In one object.
        func encode(to encoder: any Encoder) throws {
            try end.encode(to: encoder)
            try place?.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(uid, forKey: .uid)
            try container.encode("settled", forKey: .state)
            try container.encode(explanation, forKey: .explanation)
        }
    }

    /// Where its record cannot be read. The names of its properties are those of the JSON.
    private struct Unreadable: Encodable {
        var journal: String?
        var host: String?
        var uid: UInt64
        /// `quarantined` or `unreadable`.
        var state: String
        var explanation: [String]
    }

    /// All that is known of the entry as one object of JSON, with its explanation; nil where nothing is known.
    ///
    /// - Parameter place: where it is, if that is not the journal that was asked for.
    package func json(reveal: Bool, at place: FleetPlaceForm? = nil) throws -> String? {
        let explanation = EntryExplanation(self)
        switch standing {
        case .never, .forgotten: return nil
        case .entry(let entry):
            var row = EntryRow(entry, explanation: explanation, reveal: reveal)
            row.place = place
            return try row.json()
        case .unreadable(let isQuarantined):
            return try Form.text(
                Unreadable(
                    journal: place?.journal, host: place?.host, uid: uid.rawValue,
                    state: isQuarantined ? "quarantined" : "unreadable",
                    explanation: explanation.sentences))
        case .ended(let outcome):
            return try OutcomeRow(outcome, blacklisted: blacklisted, tellsStory: true, reveal: reveal)
                .entryJSON(explanation, at: place)
        case .settled(let outcome):
            return try Form.text(
                Settled(place: place, uid: uid.rawValue, end: EndForm(outcome), explanation: explanation.sentences))
        }
    }
}
