/// A file that has no name yet, so that nothing of it is left when its process is killed. Darwin has none.
package enum UnnamedFile {
    /// Makes one for writing, which only its owner may read.
    ///
    /// - Parameter directory: where it is to get its name.
    /// - Returns: its descriptor; nil where the system or the file system has no such files, or no way to name them.
    package static func make(in directory: String) -> Int32? {
        #if canImport(Darwin)
        return nil
        #else
        guard let descriptors = KernelNames.openDescriptors, unsafe access(descriptors, X_OK) == 0 else { return nil }
        // O_TMPFILE of linux/fcntl.h, which not every C library's module has.
        let flags = 0o20_000_000 | O_DIRECTORY | O_WRONLY | O_CLOEXEC
        let descriptor = unsafe open(directory, flags, 0o600)
        return descriptor >= 0 ? descriptor : nil
        #endif
    }

    /// Gives it its name. What has this name already stays.
    ///
    /// - Returns: 0, or a number of `errno`: `EEXIST` where something has this name.
    package static func name(_ descriptor: Int32, _ path: String) -> Int32 {
        #if canImport(Darwin)
        return ENOTSUP
        #else
        guard let descriptors = KernelNames.openDescriptors else { return ENOTSUP }
        let link = "\(descriptors)/\(descriptor)"
        return unsafe linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno
        #endif
    }
}
