/// How long is looked for the lock for which a call waits that had no answer (``PQSession/lockPatience``).
package enum LockPatience {
    /// For calls that are made again, and whose reason is looked for again.
    static let repeated = Duration.seconds(1)
    /// For commands, which end with what they have found: as long as their calls may take.
    package static let command = Duration.seconds(10)
}
