extension APNsPayload {
    /// The text that a notification shows. Encoded as a string where there is only a body, otherwise as an object; the
    /// alert of a Live Activity is always an object.
    ///
    ///     payload.alert = "Your table is ready"
    ///     payload.alert = Alert(title: "Reservation", body: "Your table is ready")
    public struct Alert: Hashable, Sendable, ExpressibleByStringLiteral {
        /// A key of the app's `Localizable.strings`, with the arguments of its text.
        public struct Localized: Hashable, Sendable {
            /// The key in `Localizable.strings`.
            public var key: String
            /// The values that replace the placeholders of the text, in order.
            public var arguments: [String]

            /// Creates a reference to a localised text.
            public init(_ key: String, _ arguments: String...) {
                self.init(key, arguments: arguments)
            }

            /// Creates a reference to a localised text with its arguments in an array.
            public init(_ key: String, arguments: [String]) {
                self.key = key
                self.arguments = arguments
            }
        }

        /// The button that opens the app; macOS and older systems only. Closed: these are all of the forms that Apple
        /// documents.
        public enum Action: Hashable, Sendable {
            /// A text (Safari's push notifications): `action`.
            case label(String)
            /// The key of a localised text: `action-loc-key`.
            case localized(String)
            /// No button.
            case hidden
        }

        /// `title`: shown in bold above the body.
        public var title: String?
        /// `subtitle`: shown between title and body.
        public var subtitle: String?
        /// `body`: the text of the notification.
        public var body: String?
        /// `title-loc-key` and `title-loc-args`; for a Live Activity `title`, as an object.
        public var localizedTitle: Localized?
        /// `subtitle-loc-key` and `subtitle-loc-args`
        public var localizedSubtitle: Localized?
        /// `loc-key` and `loc-args`; for a Live Activity `body`, as an object.
        public var localizedBody: Localized?
        /// `action` or `action-loc-key`: the button that opens the app. Default: the system's.
        public var action: Action?
        /// `launch-image`: a file of the app, with or without its extension.
        public var launchImage: String?
        /// `sound` inside the alert: for Live Activities.
        public var sound: String?
        /// `summary-arg`: Apple ignores it from iOS 15 on.
        public var summaryArgument: String?
        /// `summary-arg-count`: Apple ignores it from iOS 15 on.
        public var summaryArgumentCount: Int?
        /// Whether the alert is encoded as an object even where a string would do. Default: no.
        public var isAlwaysObject = false

        /// Creates an alert of texts that are shown as they are.
        public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
            self.title = title
            self.subtitle = subtitle
            self.body = body
        }

        /// Creates an alert with only a body.
        public init(stringLiteral text: String) { self.init(body: text) }

        /// Creates an alert with only a body.
        public init(_ text: String) { self.init(body: text) }
    }
}

extension APNsPayload.Alert {
    /// The alert as JSON: a string where there is only a body and it is not for a Live Activity.
    ///
    /// - Parameter isForLiveActivity: encodes localised titles and bodies as objects under the keys of the texts, as
    ///   Apple does there (*Update Live Activities with push notifications*, WWDC 2023).
    /// - Throws: ``APNsPayloadError`` for a text given both plain and localised under one key, or a
    ///   `summary-arg-count` below 1.
    func fragment(isForLiveActivity: Bool) throws(APNsPayloadError) -> JSONFragment {
        var plain = APNsPayload.Alert(body: body)
        plain.isAlwaysObject = isAlwaysObject
        // For Live Activities Apple documents only objects.
        if let body, self == plain, !isAlwaysObject, !isForLiveActivity { return JSONFragment(body) }
        var object = JSONObjectWriter()
        if isForLiveActivity {
            try Self.write(title, localizedTitle, "title", to: &object)
            object.write("subtitle", subtitle)
            try Self.write(body, localizedBody, "body", to: &object)
        } else {
            object.write("title", title)
            object.write("subtitle", subtitle)
            object.write("body", body)
            Self.write(localizedTitle, "title-loc-key", "title-loc-args", to: &object)
        }
        Self.write(localizedSubtitle, "subtitle-loc-key", "subtitle-loc-args", to: &object)
        if !isForLiveActivity { Self.write(localizedBody, "loc-key", "loc-args", to: &object) }
        switch action {
        case .label(let text)?: object.write("action", text)
        case .localized(let key)?: object.write("action-loc-key", key)
        case .hidden?: object.write("action-loc-key", JSONFragment.null)
        case nil: break
        }
        object.write("launch-image", launchImage)
        object.write("sound", sound)
        object.write("summary-arg", summaryArgument)
        if let summaryArgumentCount, summaryArgumentCount < 1 {
            throw APNsPayloadError(.invalid, "summary-arg-count is 1 or more; this one is \(summaryArgumentCount)")
        }
        object.write("summary-arg-count", summaryArgumentCount)
        return JSONFragment(bytes: object.finish())
    }

    /// A text, or its localisation as an object, under one key.
    private static func write(
        _ text: String?, _ localized: Localized?, _ key: String, to object: inout JSONObjectWriter
    ) throws(APNsPayloadError) {
        guard let localized else { return object.write(key, text) }
        guard text == nil else {
            throw APNsPayloadError(.invalid, "the alert of a Live Activity has one \(key): as it is, or localised")
        }
        var inner = JSONObjectWriter()
        write(localized, "loc-key", "loc-args", to: &inner)
        object.write(key, JSONFragment(bytes: inner.finish()))
    }

    private static func write(
        _ text: Localized?, _ key: String, _ arguments: String, to object: inout JSONObjectWriter
    ) {
        guard let text else { return }
        object.write(key, text.key)
        object.write(arguments, text.arguments.isEmpty ? nil : text.arguments)
    }
}
