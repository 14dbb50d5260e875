import Foundation
import HoldfastPayload
import Testing

/// A payload, and the JSON that it is to be.
struct Golden: Sendable, CustomTestStringConvertible {
    let what: String
    let json: String
    let payload: @Sendable () throws -> APNsPayload

    init(_ what: String, _ json: String, _ build: @escaping @Sendable (inout APNsPayload) throws -> Void) {
        self.what = what
        self.json = json
        payload = {
            var payload = APNsPayload()
            try build(&payload)
            return payload
        }
    }

    var testDescription: String { what }
}

/// The JSON beside each payload is written by hand from Apple's documentation (*Generating a remote notification*, tables 1
/// and 2; *Starting and updating Live Activities with ActivityKit push notifications*; *Using push notifications to update
/// widgets*; *Implementing device management*).
enum GoldenPayloads {
    static let table1: [Golden] = [
        Golden("nothing at all", #"{"aps":{}}"#) { _ in },
        Golden("alert as a text", #"{"aps":{"alert":"You got your emails."}}"#) { $0.alert = "You got your emails." },
        Golden("badge", #"{"aps":{"badge":9}}"#) { $0.badge = 9 },
        Golden("badge that is removed", #"{"aps":{"badge":0}}"#) { $0.badge = 0 },
        Golden("sound", #"{"aps":{"sound":"bingbong.aiff"}}"#) { $0.sound = "bingbong.aiff" },
        Golden("the system's sound", #"{"aps":{"sound":"default"}}"#) { $0.sound = .default },
        Golden("thread-id", #"{"aps":{"thread-id":"game-42"}}"#) { $0.threadID = "game-42" },
        Golden("category", #"{"aps":{"category":"GAME_INVITATION"}}"#) { $0.category = "GAME_INVITATION" },
        Golden("content-available", #"{"aps":{"content-available":1}}"#) { $0.isContentAvailable = true },
        Golden("mutable-content", #"{"aps":{"mutable-content":1}}"#) { $0.isMutableContent = true },
        Golden("target-content-id", #"{"aps":{"target-content-id":"window-1"}}"#) { $0.targetContentID = "window-1" },
        Golden("interruption-level passive", #"{"aps":{"interruption-level":"passive"}}"#) {
            $0.interruptionLevel = .passive
        },
        Golden("interruption-level active", #"{"aps":{"interruption-level":"active"}}"#) {
            $0.interruptionLevel = .active
        },
        Golden("interruption-level time-sensitive", #"{"aps":{"interruption-level":"time-sensitive"}}"#) {
            $0.interruptionLevel = .timeSensitive
        },
        Golden("interruption-level critical", #"{"aps":{"interruption-level":"critical"}}"#) {
            $0.interruptionLevel = .critical
        },
        Golden("relevance-score", #"{"aps":{"relevance-score":0.25}}"#) { $0.relevanceScore = 0.25 },
        Golden("filter-criteria", #"{"aps":{"filter-criteria":"work"}}"#) { $0.filterCriteria = "work" },
        Golden("stale-date", #"{"aps":{"stale-date":1650998941}}"#) {
            $0.staleDate = Date(timeIntervalSince1970: 1_650_998_941)
        },
        Golden("content-state", #"{"aps":{"content-state":{"emoji":"😀","level":3}}}"#) {
            $0.contentState = ["level": 3, "emoji": "😀"]
        },
        Golden("timestamp", #"{"aps":{"timestamp":1168364460}}"#) {
            $0.timestamp = Date(timeIntervalSince1970: 1_168_364_460.9)
        },
        Golden("event start", #"{"aps":{"event":"start"}}"#) { $0.event = .start },
        Golden("event update", #"{"aps":{"event":"update"}}"#) { $0.event = .update },
        Golden("event end", #"{"aps":{"event":"end"}}"#) { $0.event = .end },
        Golden("dismissal-date", #"{"aps":{"dismissal-date":1663177260}}"#) {
            $0.dismissalDate = Date(timeIntervalSince1970: 1_663_177_260)
        },
        Golden("attributes-type", #"{"aps":{"attributes-type":"AdventureAttributes"}}"#) {
            $0.attributesType = "AdventureAttributes"
        },
        Golden("attributes", #"{"aps":{"attributes":{"currentHealthLevel":100}}}"#) {
            $0.attributes = ["currentHealthLevel": 100]
        },
        Golden("input-push-channel", #"{"aps":{"input-push-channel":"dHN0LXNyY2gtY2hubA=="}}"#) {
            $0.inputPushChannel = "dHN0LXNyY2gtY2hubA=="
        },
        Golden("input-push-token", #"{"aps":{"input-push-token":1}}"#) { $0.asksForPushToken = true },
        Golden("content-changed", #"{"aps":{"content-changed":true}}"#) { $0.isContentChanged = true },
        Golden("url-args", #"{"aps":{"url-args":["boarding","A998"]}}"#) { $0.urlArguments = ["boarding", "A998"] },
    ]

    static let table2: [Golden] = [
        Golden(
            "title, subtitle and body",
            #"{"aps":{"alert":{"title":"Game Request","subtitle":"Five Card Draw","body":"Bob wants to play poker"}}}"#
        ) {
            $0.alert = .init(title: "Game Request", subtitle: "Five Card Draw", body: "Bob wants to play poker")
        },
        Golden("launch-image", #"{"aps":{"alert":{"body":"b","launch-image":"Launch.png"}}}"#) {
            $0.alert = "b"
            $0.alert?.launchImage = "Launch.png"
        },
        Golden(
            "title-loc-key and title-loc-args", #"{"aps":{"alert":{"title-loc-key":"T","title-loc-args":["a","b"]}}}"#
        ) {
            $0.alert = .init()
            $0.alert?.localizedTitle = .init("T", "a", "b")
        },
        Golden(
            "subtitle-loc-key and subtitle-loc-args",
            #"{"aps":{"alert":{"subtitle-loc-key":"S","subtitle-loc-args":["a"]}}}"#
        ) {
            $0.alert = .init()
            $0.alert?.localizedSubtitle = .init("S", arguments: ["a"])
        },
        Golden(
            "loc-key and loc-args",
            #"{"aps":{"alert":{"loc-key":"GAME_PLAY_REQUEST_FORMAT","loc-args":["Jenna","Frank"]}}}"#
        ) {
            $0.alert = .init()
            $0.alert?.localizedBody = .init("GAME_PLAY_REQUEST_FORMAT", "Jenna", "Frank")
        },
        Golden("loc-key without arguments", #"{"aps":{"alert":{"loc-key":"HELLO"}}}"#) {
            $0.alert = .init()
            $0.alert?.localizedBody = .init("HELLO")
        },
        Golden("action-loc-key", #"{"aps":{"alert":{"body":"b","action-loc-key":"PLAY"}}}"#) {
            $0.alert = "b"
            $0.alert?.action = .localized("PLAY")
        },
        Golden("no action button", #"{"aps":{"alert":{"body":"b","action-loc-key":null}}}"#) {
            $0.alert = "b"
            $0.alert?.action = .hidden
        },
        Golden("action, for Safari", #"{"aps":{"alert":{"title":"Flight A998","body":"Boarding","action":"View"}}}"#) {
            $0.alert = .init(title: "Flight A998", body: "Boarding")
            $0.alert?.action = .label("View")
        },
        Golden("an alert that is an object although a text would do", #"{"aps":{"alert":{"body":"b"}}}"#) {
            $0.alert = "b"
            $0.alert?.isAlwaysObject = true
        },
        Golden("a Live Activity's sound", #"{"aps":{"alert":{"title":"t","body":"b","sound":"chime.aiff"}}}"#) {
            $0.alert = .init(title: "t", body: "b")
            $0.alert?.sound = "chime.aiff"
        },
        Golden("a Live Activity's text", #"{"aps":{"alert":{"body":"b"},"event":"update"}}"#) {
            $0.event = .update
            $0.alert = "b"
        },
        Golden(
            "localised texts of a Live Activity, under the keys of the texts",
            #"{"aps":{"alert":{"title":{"loc-key":"%@ is near","loc-args":["Anna"]},"body":{"loc-key":"HURRY"}},"event":"update"}}"#
        ) {
            $0.event = .update
            $0.alert = .init()
            $0.alert?.localizedTitle = .init("%@ is near", "Anna")
            $0.alert?.localizedBody = .init("HURRY")
        },
        Golden(
            "summary-arg and summary-arg-count",
            #"{"aps":{"alert":{"body":"b","summary-arg":"Anna","summary-arg-count":3}}}"#
        ) {
            $0.alert = "b"
            $0.alert?.summaryArgument = "Anna"
            $0.alert?.summaryArgumentCount = 3
        },
        Golden("a critical sound", #"{"aps":{"sound":{"critical":1,"name":"default","volume":0.5}}}"#) {
            $0.sound = .critical(volume: 0.5)
        },
        Golden("a sound with a volume that is not critical", #"{"aps":{"sound":{"name":"x.caf","volume":1.0}}}"#) {
            $0.sound = .init("x.caf", volume: 1)
        },
    ]

    static let whole: [Golden] = [
        Golden("mdm", #"{"mdm":"PushMagicValue"}"#) { $0 = .mdm(pushMagic: "PushMagicValue") },
        Golden("background", #"{"aps":{"content-available":1}}"#) { $0 = .background },
        Golden(
            "keys beside aps, by their names",
            #"{"aps":{"alert":"Hi"},"acme1":"bar","acme2":["bang","whiz"],"acme3":{"a":1,"b":null},"acme4":true,"acme5":1.5}"#
        ) {
            $0.alert = "Hi"
            $0["acme5"] = 1.5
            $0["acme4"] = true
            $0["acme3"] = ["b": .null, "a": 1]
            $0["acme2"] = ["bang", "whiz"]
            $0["acme1"] = "bar"
        },
        Golden("a key of aps that Apple thinks of later", #"{"aps":{"alert":"Hi","sparkle":2}}"#) {
            $0.alert = "Hi"
            $0.otherKeys["sparkle"] = 2
        },
        Golden(
            "a Live Activity that begins",
            #"{"aps":{"alert":{"title":"Adventure","body":"It begins"},"event":"start","timestamp":1234,"content-state":{"currentHealthLevel":100,"eventDescription":"Adventure has begun!"},"attributes-type":"AdventureAttributes","attributes":{"currentHealthLevel":100,"eventDescription":"x"}}}"#
        ) {
            struct State: Encodable {
                let currentHealthLevel: Int
                let eventDescription: String
            }
            $0 = try .liveActivity(
                .start, contentState: State(currentHealthLevel: 100, eventDescription: "Adventure has begun!"),
                timestamp: Date(timeIntervalSince1970: 1234))
            $0.alert = .init(title: "Adventure", body: "It begins")
            $0.attributesType = "AdventureAttributes"
            $0.attributes = try .encoding(State(currentHealthLevel: 100, eventDescription: "x"))
        },
    ]
}
