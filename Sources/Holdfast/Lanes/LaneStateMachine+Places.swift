/// Which places in windows a lane has, and which it wants.
///
/// A lane with one attempt is given places before its mark rises, since a crash makes *unknown* what the mark covers: what
/// goes again, what the mark is asked to cover and what is being promoted keeps its places until it is handed out.
extension LaneStateMachine {
    /// Places that are the lane's and not filled yet.
    var keptPlaces: Int {
        // Until it is on disk that the mark has stepped back, a crash makes unknown what it has covered.
        guard key.guarantee == .atMostOnce, !isLowering else { return loweredPlaces }
        guard handsOut else { return 0 }
        return again.count + forwardPlaces + promotionPlaces
    }

    /// The number of ``keptPlaces`` that can be filled now.
    var fillablePlaces: Int {
        guard key.guarantee == .atMostOnce, handsOut, !isLowering else { return 0 }
        if !again.isEmpty { return again.count }
        return mark > cursor && !holdsReading ? forwardPlaces : 0
    }

    /// Whether there is something to send that has no place yet.
    var wantsPlaces: Bool {
        guard handsOut, !isLowering else { return false }
        if key.guarantee == .atLeastOnce { return !again.isEmpty || cursor < lastUID && !holdsReading }
        return again.isEmpty && wantsForwardPlaces
    }

    /// Whether an at-most-once lane has unread entries without a place, without regard to entries that are sent again.
    var wantsForwardPlaces: Bool {
        guard handsOut, !isLowering, !holdsReading, isRunning || keptPlaces == 0 else { return false }
        // What an earlier process may have sent has no places: it is not sent again.
        return cursor < min(mark, lastUID) ? forwardPlaces == 0 : peekStart < lastUID
    }
}
