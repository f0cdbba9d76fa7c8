//! An empty disk in the format qcow2: QEMU keeps the machine's snapshots in it.

/// Bytes of a cluster, and its binary logarithm.
const CLUSTER: usize = 1 << CLUSTER_BITS;
const CLUSTER_BITS: u32 = 16;

/// The file's bytes: header, table of reference counts, one block of them, table of the disk.
#[must_use]
pub fn empty_disk() -> Vec<u8> {
    let mut disk = vec![0; 4 * CLUSTER];
    let mut put = |at: usize, bytes: &[u8]| disk[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"QFI\xfb");
    put(4, &2_u32.to_be_bytes());
    put(20, &CLUSTER_BITS.to_be_bytes());
    // The disk's own size is never used.
    put(24, &(1_u64 << 20).to_be_bytes());
    put(36, &1_u32.to_be_bytes());
    put(40, &(3 * CLUSTER as u64).to_be_bytes());
    put(48, &(CLUSTER as u64).to_be_bytes());
    put(56, &1_u32.to_be_bytes());
    put(CLUSTER, &(2 * CLUSTER as u64).to_be_bytes());
    for cluster in 0..4 {
        put(2 * CLUSTER + 2 * cluster, &1_u16.to_be_bytes());
    }
    disk
}
