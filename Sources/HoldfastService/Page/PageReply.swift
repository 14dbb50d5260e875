internal import HoldfastControl
internal import HoldfastGateway

/// Answers of the page, each with the fields that keep other sites out.
enum PageReply {
    /// Nothing from elsewhere, nothing inline, in nobody's frame, kept nowhere.
    private static let fields = [
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            + "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    ]

    static func json(_ status: Int, _ body: [UInt8], fields: [String: String] = [:]) -> AdminPage.Answer {
        let ended = body.last == UInt8(ascii: "\n") ? body : body + [UInt8(ascii: "\n")]
        return file(status, type: "application/json", ended, fields: fields)
    }

    static func json(_ text: String) -> AdminPage.Answer { json(200, Array(text.utf8)) }

    static func json(_ form: some Encodable, fields: [String: String] = [:]) throws -> AdminPage.Answer {
        json(200, try Form.line(form), fields: fields)
    }

    static func file(
        _ status: Int = 200, type: String, _ body: [UInt8], fields: [String: String] = [:]
    ) -> AdminPage.Answer {
        AdminPage.Answer(status, type: type, body, fields: guarded(fields))
    }

    static func guarded(_ fields: [String: String] = [:]) -> [String: String] {
        Self.fields.merging(fields) { $1 }
    }

    /// An error as an answer, as everywhere in Holdfast.
    static func failed(_ error: any Error) -> AdminPage.Answer {
        if let refusal = error as? PageRefusal { return refusal.answer }
        let (status, body) = OutcomeAnswer.answer(error)
        return json(status, body, fields: status == 503 ? ["Retry-After": "2"] : [:])
    }
}
