/// What is checked in the transaction of whoever submits. It is what the host checks again: the rules of
/// `NotificationValidator` that need no route.
extension Migration {
    static let badField = "HF010"
    static let badList = "HF011"

    static func checking(_ schema: String) -> [String] {
        let fields = SubmissionField.all.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        return ["CREATE TYPE \(schema).submission AS (\(fields))"] + zones(schema)
            + checkingSubmissions(
                schema, replacing: false, badExpiration: "format('the expiration %s is past', s.expiration)")
    }

    /// - Parameters:
    ///   - replacing: whether a version before has it.
    ///   - badExpiration: an expression for what is said of an expiration that no notification can have.
    static func checkingSubmissions(_ schema: String, replacing: Bool, badExpiration: String) -> [String] {
        helper(
            schema, "check_submission(s \(schema).submission, place text)", returns: "void", replacing: replacing,
            """
            DECLARE
                size int4;
                most int4 := CASE WHEN s.channel IS NOT NULL OR s.push_type = 'voip' THEN 5120 ELSE 4096 END;
            BEGIN
            \(recipientRules + payloadRules + headerRules + textRules)
                IF coalesce(s.expiration, s.try_until, s.deliver_after, s.token_registered_at) IS NOT NULL
                    OR s.deliver_within IS NOT NULL THEN
            \(timeRules(schema, badExpiration: badExpiration))
                END IF;
            END
            """)
    }

    /// - Parameters:
    ///   - argument: for programs, in the error's column name.
    ///   - reason: the word that other ways of submitting answer with, in the error's constraint name.
    ///   - words: an expression.
    private static func refuse(
        if condition: String, _ argument: String, _ reason: String, _ words: String, _ hint: String
    ) -> String {
        """
            IF \(condition) THEN
                RAISE EXCEPTION USING ERRCODE = '\(badField)', COLUMN = '\(argument)', CONSTRAINT = '\(reason)',
                    MESSAGE = place || \(words), HINT = '\(hint)';
            END IF;

        """
    }

    private static let recipientRules =
        refuse(
            if: "s.topic IS NULL OR s.topic = ''", "topic", "MissingTopic", "'the topic is missing'",
            "Give the topic, which is mostly the app''s bundle identifier.")
        + refuse(
            if: #"length(s.topic) > 255 OR s.topic COLLATE "C" ~ '[^!-~]'"#, "topic", "BadTopic",
            "format('the topic has %s characters, or others than it may have', length(s.topic))",
            "A topic has 1 to 255 visible ASCII characters.")
        + refuse(
            if: "num_nonnulls(s.token, s.channel) <> 1", "token", "MissingDeviceToken",
            "CASE WHEN s.token IS NULL THEN 'there is no token' ELSE 'there are both a token and a channel' END",
            "Give a token for one device, or a channel for a broadcast.")
        + refuse(
            if: "length(s.token) NOT BETWEEN 2 AND 200 OR length(s.token) % 2 <> 0 OR s.token ~ '[^0-9A-Fa-f]'",
            "token", "BadDeviceToken",
            "format('the token has %s characters, or others than hex digits', length(s.token))",
            "A device token has an even number of hex digits, 2 to 200, and nothing between them.")
        + refuse(
            if: "length(s.channel) NOT BETWEEN 4 AND 100 OR length(s.channel) % 4 <> 0 "
                + "OR s.channel !~ '^[0-9A-Za-z+/]+={0,2}$'",
            "channel", "BadChannelId", "'the channel is no channel id'",
            "Give the base64 text that Apple gave when the channel was created.")

    private static let payloadRules =
        refuse(
            if: "s.payload IS NULL", "payload", "PayloadEmpty", "'the payload is missing'",
            "Give a JSON object, such as {\"aps\": {\"alert\": \"Hi\"}}.")
        + refuse(
            if: "jsonb_typeof(s.payload) <> 'object'", "payload", "PayloadNotJSON",
            "format('the payload is a JSON %s and not an object', jsonb_typeof(s.payload))",
            "Give a JSON object, such as {\"aps\": {\"alert\": \"Hi\"}}.")
        + "    size := octet_length(s.payload::text);\n"
        + refuse(
            if: "size > most", "payload", "PayloadTooLarge", "format('the payload has %s bytes as text', size)",
            "At most 4096 bytes, or 5120 with push type voip or for a channel, with the spaces that jsonb writes.")

    private static let headerRules =
        refuse(
            if: "s.push_type NOT IN (\(pushTypes))", "push_type", "InvalidPushType",
            "format('there is no push type %s', quote_literal(left(s.push_type, 64)))",
            "Give alert, background, liveactivity or another of Apple''s types, or none.")
        + refuse(
            if: "s.channel IS NOT NULL AND s.push_type <> 'liveactivity'", "push_type", "InvalidPushType",
            "format('a broadcast can''t have push type %s', s.push_type)", "Leave it out, or give liveactivity.")
        + refuse(
            if: "s.priority NOT IN (10, 5, 1)", "priority", "BadPriority",
            "format('there is no priority %s', s.priority)", "Give 10, 5 or 1, or none.")
        + refuse(
            if: "s.guarantee NOT IN ('at-least-once', 'at-most-once')", "guarantee", "BadGuarantee",
            "format('there is no guarantee %s', quote_literal(left(s.guarantee, 64)))",
            "Give at-least-once or at-most-once, or none for the first.")
        + refuse(
            if: "s.environment NOT IN ('production', 'sandbox')", "environment", "BadEnvironment",
            "format('there is no environment %s', quote_literal(left(s.environment, 64)))",
            "Give production or sandbox, or none.")
        + refuse(
            if: "s.newest_wins AND s.collapse_id IS NULL", "newest_wins", "BadNewestWins",
            "'the newest is to win, and no collapse_id says among which'",
            "Give a collapse_id, or leave newest_wins out.")

    private static let textRules =
        refuse(
            if:
                "s.collapse_id IS NOT NULL AND (s.channel IS NOT NULL OR octet_length(s.collapse_id) NOT BETWEEN 1 AND 64 "
                + #"OR s.collapse_id ~ '^ | $|[\x01-\x1f\x7f]')"#, "collapse_id", "BadCollapseId",
            "format('the collapse_id has %s bytes, or begins or ends with a space, or has control characters, or is a "
                + "broadcast''s', octet_length(s.collapse_id))",
            "A collapse id has 1 to 64 bytes, and a broadcast has none.")
        + refuse(
            if: "octet_length(s.tag) NOT BETWEEN 1 AND 256", "tag", "TagTooLong",
            "format('the tag has %s bytes', octet_length(s.tag))", "A tag has 1 to 256 bytes. Leave it out for none.")
        + refuse(
            if: "octet_length(s.context) > 4096", "context", "ContextTooLong",
            "format('the context has %s bytes', octet_length(s.context))", "A context has at most 4096 bytes.")
        + refuse(
            if: "octet_length(s.producer) NOT BETWEEN 1 AND 60", "producer", "BadProducerName",
            "format('the producer has %s bytes', octet_length(s.producer))",
            "The name of a producer has 1 to 60 bytes here.")

    private static func timeRules(_ schema: String, badExpiration: String) -> String {
        refuse(
            if: "s.expiration > 'epoch' AND s.expiration <= clock_timestamp() OR s.expiration < 'epoch' "
                + "OR NOT isfinite(s.expiration)", "expiration", "BadExpirationDate",
            badExpiration,
            "Give a time to come, or ''epoch'' for one attempt with nothing stored, or none.")
            + refuse(
                if: "s.try_until <= clock_timestamp() OR NOT isfinite(s.try_until) OR s.expiration <> 'epoch'"
                    + " AND s.try_until IS NOT NULL", "try_until", "BadExpirationDate",
                "format('it can''t be tried until %s', s.try_until)",
                "Give a time to come, and no expiration beside it but ''epoch''.")
            + refuse(
                if: "s.deliver_after > clock_timestamp() + interval '366 days' OR NOT isfinite(s.deliver_after)",
                "deliver_after", "BadDeliverAfter",
                "format('it is to be delivered after %s', s.deliver_after)", "At most 366 days ahead.")
            + refuse(
                if: "s.deliver_after >= coalesce(s.try_until, nullif(s.expiration, 'epoch'))", "deliver_after",
                "BadDeliverAfter", "format('it expires before %s, when it may be delivered', s.deliver_after)",
                "Give a later expiration or an earlier time.")
            + refuse(
                if:
                    "s.token_registered_at > clock_timestamp() + interval '1 day' OR NOT isfinite(s.token_registered_at)",
                "token_registered_at",
                "BadTokenRegistrationTime",
                "format('the token is said to have been registered at %s', s.token_registered_at)",
                "It is a time that is past, by a clock that is right.")
            + refuse(
                if: "s.deliver_within IS NOT NULL AND NOT \(schema).are_hours(s.deliver_within)", "deliver_within",
                "BadDeliverWithin",
                "format('%s are no delivery hours', quote_literal(left(s.deliver_within, 100)))",
                "Write HH:MM-HH:MM ZONE, such as 09:00-18:00 Europe/Berlin.")
    }

    private static let pushTypes =
        "'alert', 'background', 'location', 'voip', 'complication', 'fileprovider', 'mdm', 'liveactivity', 'pushtotalk', "
        + "'controls', 'widgets'"

    /// Whether a text is hours of the day in a time zone that this server knows.
    private static func zones(_ schema: String) -> [String] {
        helper(
            schema, "are_hours(hours text)", returns: "bool", volatility: "STABLE",
            #"""
            DECLARE
                parts text[] := regexp_match(hours,
                    '^(([01]\d|2[0-3]):[0-5]\d)-(([01]\d|2[0-3]):[0-5]\d|24:00) ([A-Za-z][A-Za-z0-9_+/-]{0,63})$');
            BEGIN
                IF parts IS NULL OR parts[1] = parts[3] OR parts[1] = '00:00' AND parts[3] = '24:00' THEN
                    RETURN false;
                END IF;
                PERFORM now() AT TIME ZONE parts[5];
                RETURN true;
            EXCEPTION WHEN invalid_parameter_value THEN RETURN false;
            END
            """#)
    }
}
