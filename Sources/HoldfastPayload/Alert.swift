extension APNsPayload {
    /// What a notification shows. A text alone is encoded as one, anything more as an object, and so is all that a Live
    /// Activity shows.
    ///
    ///     payload.alert = "Your table is ready"
    ///     payload.alert = Alert(title: "Reservation", body: "Your table is ready")
    public struct Alert: Hashable, Sendable, ExpressibleByStringLiteral {
        /// A key of the app's `Localizable.strings`, with what is put into its text.
        public struct Localized: Hashable, Sendable {
            public var key: String
            public var arguments: [String]

            public init(_ key: String, _ arguments: String...) {
                self.init(key, arguments: arguments)
            }

            public init(_ key: String, arguments: [String]) {
                self.key = key
                self.arguments = arguments
            }
        }

        /// The button that opens the app; macOS and older systems only.
        public enum Action: Hashable, Sendable {
            /// Its text (Safari's push notifications).
            case label(String)
            /// The key of its text: `action-loc-key`.
            case localized(String)
            /// No button.
            case hidden
        }

        /// `title`
        public var title: String?
        /// `subtitle`
        public var subtitle: String?
        /// `body`
        public var body: String?
        /// `title-loc-key` and `title-loc-args`; for a Live Activity `title`, as an object.
        public var localizedTitle: Localized?
        /// `subtitle-loc-key` and `subtitle-loc-args`
        public var localizedSubtitle: Localized?
        /// `loc-key` and `loc-args`; for a Live Activity `body`, as an object.
        public var localizedBody: Localized?
        /// `action` or `action-loc-key`
        public var action: Action?
        /// `launch-image`: a file of the app's, with or without its extension.
        public var launchImage: String?
        /// `sound` within the alert: for Live Activities.
        public var sound: String?
        /// `summary-arg`: Apple ignores it from iOS 15 on.
        public var summaryArgument: String?
        /// `summary-arg-count`: Apple ignores it from iOS 15 on.
        public var summaryArgumentCount: Int?
        /// Whether it is an object also where a text would do. Default: no.
        public var isAlwaysObject = false

        public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
            self.title = title
            self.subtitle = subtitle
            self.body = body
        }

        public init(stringLiteral text: String) { self.init(body: text) }

        /// A text alone.
        public init(_ text: String) { self.init(body: text) }
    }
}

extension APNsPayload.Alert {
    /// As JSON: a text where nothing else is said, and it is none of a Live Activity's.
    ///
    /// - Parameter isForLiveActivity: there Apple has localised titles and bodies as objects under the keys of the texts
    ///   (*Update Live Activities with push notifications*, WWDC 2023).
    /// - Throws: ``APNsPayloadError`` for a text that is there in two ways under one key, or a count that is none.
    func fragment(isForLiveActivity: Bool) throws(APNsPayloadError) -> JSONFragment {
        var plain = APNsPayload.Alert(body: body)
        plain.isAlwaysObject = isAlwaysObject
        // Of Live Activities Apple documents nothing but objects.
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
