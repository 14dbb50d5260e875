/// The meaning of the service's words about broadcast channels, for people. Each a sentence without its full stop.
package enum ChannelWords {
    package static let badID = "the channel id is not as Apple gave it when the channel was created"
    package static let notRegistered =
        "there is no such channel in this environment, or it was deleted; those of development and of production are apart"
    package static let tooMany = "the app has as many channels as an app may have"
    package static let notEnabled = "broadcast is not enabled for this app"
    package static let enabling = "enable broadcast in the developer account, under the app's push notifications"
}
