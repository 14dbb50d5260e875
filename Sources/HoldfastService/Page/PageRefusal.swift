internal import Holdfast
internal import HoldfastControl
internal import HoldfastGateway

/// Why a request to the page is not served.
struct PageRefusal: Error {
    var status: Int
    var message: String
    var fields: [String: String] = [:]

    /// Nobody has signed in, and the page is not read from this machine.
    static let unknownReader = signInFirst("this is read by operators")
    static let unknownOperator = signInFirst("only operators change something")
    static let wrongToken = PageRefusal(
        status: 401, message: "this is not the token of admin.token-file: see that it is the present one")
    static let noToken = PageRefusal(
        status: 403,
        message:
            "nobody can sign in, since the configuration has no admin.token-file: name a file with a token there, and "
            + "start the service again")
    static let foreignPage = PageRefusal(
        status: 403, message: "the request comes from a page of another site, and is not served: nothing was done")
    static let withoutProof = PageRefusal(
        status: 403,
        message:
            "the request does not prove that it comes from this page (X-Holdfast-CSRF), and nothing was done: load the "
            + "page again")
    static let noForm = PageRefusal(
        status: 415, message: "a change is a JSON object: send it with `Content-Type: application/json`")
    static let closed = PageRefusal(
        status: 503, message: "the journal is not open: ask again when `/health/ready` says that it is",
        fields: ["Retry-After": "2"])
    static let noFleet = PageRefusal(
        status: 404,
        message:
            "the journal is a directory's own, and belongs to no fleet: journals that hosts share are in PostgreSQL "
            + "(journal.postgres)")
    static let busy = PageRefusal(
        status: 503, message: "others are reading the journal: ask again in a moment", fields: ["Retry-After": "2"])

    private static func signInFirst(_ why: String) -> PageRefusal {
        PageRefusal(
            status: 401,
            message: "\(why): sign in with the token of admin.token-file, or send it as `Authorization: Bearer TOKEN`",
            fields: ["WWW-Authenticate": "Bearer realm=\"holdfast\""])
    }

    static func tooMany(_ wait: Duration) -> PageRefusal {
        let seconds = max(1, (wait.wholeMilliseconds + 999) / 1000)
        return PageRefusal(
            status: 429, message: "too many wrong tokens were presented: wait \(seconds) s",
            fields: ["Retry-After": "\(seconds)"])
    }

    var answer: AdminPage.Answer {
        PageReply.json(
            status, OutcomeAnswer.answer(ControlError(.permissionDenied, message)).body, fields: fields)
    }
}
