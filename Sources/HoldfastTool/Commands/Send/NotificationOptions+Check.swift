internal import ArgumentParser
internal import Holdfast
internal import HoldfastPayload

/// Checks which of these flags can be combined.
extension NotificationOptions {
    /// Flags that were given, in the order of the help.
    var given: [String] {
        (token.isEmpty ? [] : ["--token"]) + (channel.isEmpty ? [] : ["--channel"]) + firebase.given + contents
            + [
                payload.map { _ in "--payload" }, pushType.map { _ in "--push-type" },
                priority.map { _ in "--priority" },
                apnsExpiration.map { _ in "--expiration" }, tryUntil.map { _ in "--try-until" },
                collapseID.map { _ in "--collapse-id" }, id.map { _ in "--id" },
            ].compactMap { $0 }
    }

    /// Flags that were given and make a payload.
    private var contents: [String] {
        noticed + others
            + [event.map { _ in "--event" }, contentState.map { _ in "--content-state" }].compactMap { $0 }
    }

    /// Of them, those that the user notices.
    private var noticed: [String] {
        [
            alert.map { _ in "--alert" }, title.map { _ in "--title" }, subtitle.map { _ in "--subtitle" },
            badge.map { _ in "--badge" }, sound.map { _ in "--sound" },
        ].compactMap { $0 }
    }

    /// Of them, those that are for the app.
    private var others: [String] {
        [
            category.map { _ in "--category" }, thread.map { _ in "--thread" },
            contentAvailable ? "--content-available" : nil, mutableContent ? "--mutable-content" : nil,
        ].compactMap { $0 }
    }

    /// - Throws: a `ValidationError` that names what contradicts, or is missing.
    func check() throws {
        guard let first = given.first else { return }
        if let flag = firebase.given.first { return try checkMessage(flag) }
        try checkRecipients(first)
        if let content = contents.first, payload != nil {
            throw ValidationError("--payload and \(content) exclude each other: a payload is the whole of it.")
        }
        guard payload != nil || !contents.isEmpty else {
            throw ValidationError("\(first) needs something to send: --alert, another flag of a payload, or --payload.")
        }
        try checkTimes()
        try checkLiveActivity()
        try checkBackground()
    }

    /// Checks the flags of a message for Firebase Cloud Messaging.
    private func checkMessage(_ first: String) throws {
        guard let target = firebase.targets.first else {
            throw ValidationError("\(first) needs --fcm-fid, --fcm-token, --fcm-topic or --fcm-condition.")
        }
        let foreign =
            [
                token.isEmpty ? nil : "--token", channel.isEmpty ? nil : "--channel",
                subtitle.map { _ in "--subtitle" },
                badge.map { _ in "--badge" }, sound.map { _ in "--sound" }, event.map { _ in "--event" },
                contentState.map { _ in "--content-state" }, pushType.map { _ in "--push-type" },
                collapseID.map { _ in "--collapse-id" },
            ].compactMap { $0 } + others
        if let flag = foreign.first {
            throw ValidationError(
                "\(flag) is for Apple's services, and \(target) for Google's: say it in Google's way with --payload.")
        }
        try firebase.checkTargets()
        guard firebase.count <= NotificationLine.maximumTokenCount else {
            throw ValidationError(
                "\(target) can be given \(NotificationLine.maximumTokenCount) times; write a file of more.")
        }
        if id != nil, firebase.count > 1 {
            throw ValidationError("--id is for one notification, and \(firebase.count) targets were given.")
        }
        let content =
            [alert.map { _ in "--alert" }, title.map { _ in "--title" }].compactMap { $0 }
            + (firebase.data.isEmpty ? [] : ["--data"])
        if payload == nil, content.isEmpty {
            throw ValidationError("\(target) needs something to send: --alert, --title, --data, or --payload.")
        }
        if payload != nil, let flag = (content + [priority.map { _ in "--priority" }].compactMap { $0 }).first {
            throw ValidationError("--payload and \(flag) exclude each other: a payload is the whole of it.")
        }
        try checkTimes()
    }

    private func checkTimes() throws {
        guard tryUntil != nil, let apnsExpiration, apnsExpiration != .once else { return }
        throw ValidationError(
            "--try-until and --expiration contradict: nothing is stored, which is --expiration 0, or none.")
    }

    /// The expiration that both of its flags give.
    var expiration: ExpirationArgument? {
        guard let tryUntil else { return apnsExpiration }
        return apnsExpiration == nil ? .unstated(tryUntil) : .unstored(tryUntil)
    }

    private func checkRecipients(_ first: String) throws {
        guard token.isEmpty || channel.isEmpty else {
            throw ValidationError("--token and --channel exclude each other: it is for devices, or a broadcast.")
        }
        let count = token.count + channel.count
        guard count > 0 else {
            throw ValidationError("\(first) needs --token, the device that it is for, or --channel.")
        }
        guard count <= NotificationLine.maximumTokenCount else {
            throw ValidationError(
                "\(first) can be given \(NotificationLine.maximumTokenCount) times; write a file of more.")
        }
        if id != nil, count > 1 {
            throw ValidationError("--id is for one notification, and \(first) was given \(count) times.")
        }
        for index in 0..<count {
            do throws(Refusal) {
                _ = try recipient(index)
            } catch {
                // Not the text itself: it may be a token all the same.
                let place = count > 1 ? "\(first) number \(index + 1)" : first
                throw ValidationError("\(place): \(error.detail).")
            }
        }
    }

    /// Tokens as people paste them, or channels.
    var recipients: [Recipient] {
        get throws(Refusal) {
            var recipients: [Recipient] = []
            for index in 0..<token.count + channel.count { recipients.append(try recipient(index)) }
            return recipients
        }
    }

    private func recipient(_ index: Int) throws(Refusal) -> Recipient {
        guard index >= token.count else { return .device(try DeviceToken(argument: token[index])) }
        return .channel(try BroadcastChannel(channel[index - token.count]))
    }

    private func checkLiveActivity() throws {
        let cause = channel.isEmpty ? "--event" : "--channel"
        if !channel.isEmpty {
            if payload == nil, event == nil {
                throw ValidationError("--channel needs --event, or --payload: a broadcast is for Live Activities.")
            }
            if collapseID != nil {
                throw ValidationError("--channel and --collapse-id exclude each other: broadcasts have none.")
            }
        }
        guard event != nil || !channel.isEmpty else {
            guard contentState == nil else { throw ValidationError("--content-state needs --event.") }
            return
        }
        if let pushType, pushType != .liveactivity {
            throw ValidationError(
                "\(cause) and --push-type \(pushType.rawValue) contradict: a Live Activity has its own, liveactivity.")
        }
        if event == .update, contentState == nil {
            throw ValidationError("--event update needs --content-state: what is shown from now on.")
        }
        let foreign = [subtitle.map { _ in "--subtitle" }, badge.map { _ in "--badge" }].compactMap { $0 } + others
        if let flag = foreign.first {
            throw ValidationError("\(cause) and \(flag) exclude each other: a Live Activity has nothing of the kind.")
        }
    }

    /// Apple refuses background notifications of another priority than 5, and devices do not show them.
    private func checkBackground() throws {
        let isImplied = pushType == nil && contentAvailable && noticed.isEmpty
        guard pushType == .background || isImplied else { return }
        let cause = isImplied ? "--content-available alone" : "--push-type background"
        if let priority, priority != .considerate {
            throw ValidationError(
                "\(cause) and --priority \(priority.rawValue) contradict: a background notification has priority 5.")
        }
        guard payload == nil else { return }
        if let seen = noticed.first {
            throw ValidationError("--push-type background and \(seen) contradict: it shows, sounds and counts nothing.")
        }
        if !contentAvailable {
            throw ValidationError("--push-type background needs --content-available: that is what wakes the app.")
        }
    }
}
