extension APNsPayload {
    /// The sound of a notification. Encoded as a string where there is only a name, otherwise as an object.
    public struct Sound: Hashable, Sendable, ExpressibleByStringLiteral {
        /// A sound file of the app, or `default`.
        public var name: String
        /// Whether it sounds on a muted device too. The app needs a permission of Apple's for that.
        public var isCritical: Bool
        /// 0 (silent) to 1 (loudest); nil leaves it to the device.
        public var volume: Double?

        /// Creates a sound.
        public init(_ name: String, isCritical: Bool = false, volume: Double? = nil) {
            self.name = name
            self.isCritical = isCritical
            self.volume = volume
        }

        /// Creates a sound from the name of its file.
        public init(stringLiteral name: String) { self.init(name) }

        /// The system's sound.
        public static let `default` = Sound("default")

        /// Creates a sound that a muted device makes too.
        ///
        /// - Parameters:
        ///   - name: a sound file of the app. Default: the system's.
        ///   - volume: 0 (silent) to 1 (loudest). Default: 1.
        public static func critical(_ name: String = "default", volume: Double = 1) -> Sound {
            Sound(name, isCritical: true, volume: volume)
        }

        /// - Throws: ``APNsPayloadError`` for a volume outside 0 to 1.
        var fragment: JSONFragment {
            get throws(APNsPayloadError) {
                guard isCritical || volume != nil else { return JSONFragment(name) }
                if let volume, !(0...1).contains(volume) {
                    throw APNsPayloadError(.invalid, "the volume of a sound is 0 to 1; this one is \(volume)")
                }
                var object = JSONObjectWriter()
                object.write("critical", isCritical ? 1 : nil)
                object.write("name", name)
                try object.write("volume", volume)
                return JSONFragment(bytes: object.finish())
            }
        }
    }
}
