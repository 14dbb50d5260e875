internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

/// Which notifications, for commands that look for ended ones. All flags that are given have to hold.
struct HistoryOptions: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("The one with this UID.", valueName: "uid"),
        transform: HistoryArgument.of(OutcomeArgument.uid))
    var uid: UID?

    @Option(
        name: .customLong("apns-id"), help: ArgumentHelp("Those with this apns-id.", valueName: "uuid"),
        transform: HistoryArgument.of(OutcomeArgument.id))
    var id: NotificationID?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Those to this token. All hex digits are found at once; for the first ones, or the short form of a listing, \
            the whole history is looked through.
            """, valueName: "token"),
        transform: HistoryArgument.token)
    var token: HistoryArgument.Token?

    @Option(
        name: .long, help: ArgumentHelp("Broadcasts to this channel.", valueName: "id"),
        transform: HistoryArgument.of(OutcomeArgument.channel))
    var channel: Recipient?

    @Option(
        name: .long,
        help: ArgumentHelp("Those to this address of another push service, such as fid:cXy1.", valueName: "address"),
        transform: HistoryArgument.of(OutcomeArgument.address))
    var address: Recipient?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Those with this tag, or, if it ends with *, with a tag that begins so; then the whole history is looked \
            through.
            """, valueName: "tag"))
    var tag: String?

    @Option(
        name: .long, help: ArgumentHelp("Those of this producer.", valueName: "name"),
        transform: HistoryArgument.of(OutcomeArgument.producer))
    var producer: String?

    @Option(
        name: .long, help: ArgumentHelp("Those with this topic.", valueName: "topic"),
        transform: HistoryArgument.of(OutcomeArgument.topic))
    var topic: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Those that ended at this time or later (2026-11-21T12:00:00Z, Unix seconds), or so long ago at most (10m, 1h, \
            7d); of those that wait, accepted then.
            """, valueName: "time"),
        transform: HistoryArgument.time)
    var since: WallTime?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Those that ended before this time, or longer ago; of those that wait, accepted then.
            """, valueName: "time"),
        transform: HistoryArgument.time)
    var until: WallTime?

    @Option(
        name: .customLong("outcome"),
        help: ArgumentHelp(
            "Those that ended so: \(OutcomeArgument.endings.joined(separator: ", ")).", valueName: "word"),
        completion: .list(OutcomeArgument.endings), transform: HistoryArgument.of(OutcomeArgument.ending))
    var ending: String?

    func validate() throws {
        let recipients = [
            token.map { _ in "--token" }, channel.map { _ in "--channel" }, address.map { _ in "--address" },
        ]
        .compactMap(\.self)
        guard recipients.count < 2 else {
            throw ValidationError("\(recipients.joined(separator: " and ")) exclude each other: give one.")
        }
        if tag == "" { throw ValidationError("--tag: it is empty: a tag has 1 to 256 bytes; leave it out for any.") }
        // The parser takes the last one of several, without a word.
        if let flag = RepeatedFlag.first(of: Self.flags, in: ProgramArguments.all) {
            throw ValidationError("\(flag) is given twice: give it once.")
        }
        if let since, let until, since >= until {
            throw ValidationError("--since is not before --until: nothing is between.")
        }
    }

    private static let flags = [
        "--uid", "--apns-id", "--token", "--channel", "--address", "--tag", "--producer", "--topic", "--since",
        "--until", "--outcome",
    ]

    var question: HistorySearch.Question {
        var question = HistorySearch.Question()
        question.query.uid = uid
        question.query.id = id
        question.query.recipient = channel ?? address
        if let token { (question.query.recipient, question.token) = (token.whole, token.part) }
        if let tag { question.take(tag: tag) }
        question.query.producer = producer
        question.query.topic = topic
        question.query.since = since
        question.query.until = until
        question.query.ending = ending
        return question
    }
}

/// The flags' texts.
enum HistoryArgument {
    /// A token, as somebody knows it.
    struct Token: Equatable {
        var whole: Recipient?
        var part: TokenPattern?
    }

    static func of<Value>(
        _ parse: @escaping @Sendable (String) throws(OutcomeArgument.Fault) -> Value
    ) -> @Sendable (String) throws -> Value {
        { text in
            do throws(OutcomeArgument.Fault) { return try parse(text) } catch { throw ValidationError(error.message) }
        }
    }

    static func time(_ text: String) throws -> WallTime {
        do throws(OutcomeArgument.Fault) {
            return try OutcomeArgument.time(text, now: EngineClock.system.wall())
        } catch {
            throw ValidationError(error.message)
        }
    }

    static func token(_ text: String) throws -> Token {
        var question = HistorySearch.Question()
        do throws(OutcomeArgument.Fault) { try question.take(token: text) } catch {
            throw ValidationError(error.message)
        }
        return Token(whole: question.query.recipient, part: question.token)
    }
}
