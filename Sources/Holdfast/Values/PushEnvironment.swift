/// One of Apple's two environments. A device token is good in one of them: in sandbox for builds from Xcode, in production for
/// all others. Apple has these two, so no case is added.
public enum PushEnvironment: String, Hashable, Sendable, CaseIterable {
    /// For apps from the App Store, TestFlight and ad-hoc distribution.
    case production
    /// For apps that Xcode installed.
    case sandbox

    /// The environment that this one is not.
    package var other: PushEnvironment { self == .production ? .sandbox : .production }
}
