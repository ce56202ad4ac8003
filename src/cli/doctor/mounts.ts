/** The parts of a line of `/proc/self/mountinfo` that are used here. */
export interface Mount {
  /** The directory of the file system that is mounted, such as one of the host. */
  root: string
  point: string
  type: string
}

/** A reason against keeping a database on a mount. */
export interface Objection {
  result: 'warning' | 'problem'
  message: string
}

/** Parses the text of `/proc/self/mountinfo`; lines in another form are left out. */
export function parseMounts(text: string): Mount[] {
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ')
    const [, , , root, point] = before.split(' ').map(unescaped)
    const [type] = after.split(' ')
    return root && point && type ? [{ root, point, type }] : []
  })
}

/** Decodes octal escapes of blanks, tabs, line breaks and backslashes. */
const unescaped = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  )

/** The mount of `path`: the longest matching mount point, of several the last. */
export function mountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  const leading = mounts.filter(
    ({ point }) => path === point || path.startsWith(point === '/' ? '/' : `${point}/`),
  )
  return leading.reduce<Mount | undefined>(
    (best, mount) => (best && best.point.length > mount.point.length ? best : mount),
    undefined,
  )
}

const NETWORK: Readonly<Record<string, string>> = {
  nfs: 'NFS',
  nfs4: 'NFS',
  cifs: 'SMB',
  smb3: 'SMB',
  smbfs: 'SMB',
  ceph: 'CephFS',
  afs: 'AFS',
  lustre: 'Lustre',
  '9p': '9p, a directory shared by the host',
  drvfs: 'a Windows drive',
  vboxsf: 'a VirtualBox shared folder',
  'fuse.shfs': 'an Unraid user share, not a disk',
}

const IN_MEMORY = new Set(['tmpfs', 'ramfs'])
const OVERLAYS = new Set(['overlay', 'aufs', 'fuse.fuse-overlayfs'])
/** Types of host directories that are shared with a container or virtual machine. */
const SHARED = new Set(['virtiofs', 'fakeowner', 'fuse.grpcfuse', 'fuse.osxfs', 'osxfs'])
const NAMELESS_VOLUME = /\/volumes\/[0-9a-f]{64}\/_data$/

/** The reason against a mount; undefined if there is none. */
export function objectionTo({ type, root }: Mount): Objection | undefined {
  const network = NETWORK[type]
  if (network) return onNetwork(network)
  if (OVERLAYS.has(type)) return WITHOUT_VOLUME
  if (SHARED.has(type)) return onShare(type)
  if (IN_MEMORY.has(type)) return inMemory(type)
  if (type === 'fuseblk')
    return warned(
      'FUSE (NTFS or exFAT), which does not store permissions: use ext4, xfs, btrfs or zfs',
    )
  if (type.startsWith('fuse'))
    return onNetwork(`FUSE${type.startsWith('fuse.') ? ` (${type.slice('fuse.'.length)})` : ''}`)
  if (NAMELESS_VOLUME.test(root))
    return warned('an anonymous volume, which a new container does not reuse: use a named volume')
  return undefined
}

const warned = (message: string): Objection => ({ result: 'warning', message })

/** SQLite's locks and shared memory don't work there, which damages the file. */
const onNetwork = (kind: string): Objection => ({
  result: 'problem',
  message: `${kind}: keep the data on a local disk`,
})

const onShare = (kind: string) =>
  warned(`${kind}, a host directory: use a volume, or the database may be damaged`)

const inMemory = (kind: string) =>
  warned(`${kind}, in memory: all data is lost when this machine or container stops`)

const WITHOUT_VOLUME = warned(
  'an overlay: data_dir is not on a volume, so the data is lost with the container',
)

/** Reasons by the type number of `statfs`, for systems without a list of mounts. */
const BY_NUMBER = new Map<number, Objection>([
  [0x6969, onNetwork('NFS')],
  [0x517b, onNetwork('SMB')],
  [0xff534d42, onNetwork('SMB')],
  [0xfe534d42, onNetwork('SMB')],
  [0x65735546, onNetwork('FUSE')],
  [0x01021997, onNetwork('9p, a directory shared by the host')],
  [0x00c36400, onNetwork('CephFS')],
  [0x5346414f, onNetwork('AFS')],
  [0x0bd00bd0, onNetwork('Lustre')],
  [0x786f4256, onNetwork('a VirtualBox shared folder')],
  [0x794c7630, WITHOUT_VOLUME],
  [0x01021994, inMemory('tmpfs')],
  [0x858458f6, inMemory('ramfs')],
])

/** By mount, else by type number. Mounts tell FUSE kinds apart; numbers cover unlisted mounts. */
export const objectionToPlace = (mount: Mount | undefined, number: number): Objection | undefined =>
  (mount && objectionTo(mount)) ?? BY_NUMBER.get(number)
