extension APNsPayload {
    /// What a notification sounds like. A name alone is encoded as a text, anything more as an object.
    public struct Sound: Hashable, Sendable, ExpressibleByStringLiteral {
        /// A file of the app's, or `default`.
        public var name: String
        /// Whether it sounds on a muted device too, for which an app needs Apple's permission.
        public var isCritical: Bool
        /// 0 (silent) to 1; nil leaves it to the device.
        public var volume: Double?

        public init(_ name: String, isCritical: Bool = false, volume: Double? = nil) {
            self.name = name
            self.isCritical = isCritical
            self.volume = volume
        }

        public init(stringLiteral name: String) { self.init(name) }

        /// The system's.
        public static let `default` = Sound("default")

        /// - Parameter volume: 0 (silent) to 1.
        public static func critical(_ name: String = "default", volume: Double = 1) -> Sound {
            Sound(name, isCritical: true, volume: volume)
        }

        /// - Throws: ``APNsPayloadError`` for a volume that is none.
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
