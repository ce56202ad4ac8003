import { existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { until } from '../../../support/binary.ts'
import { temporaryFolder } from '../../../support/folder.ts'

/** Programs of administrators are in folders of their own. */
const PATH = `${process.env.PATH}:/usr/sbin:/sbin`

function shell(...command: string[]): string {
  const { exitCode, stdout, stderr } = run(command)
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr}`)
  return `${stdout}`.trim()
}

const mountMemory = (at: string, megabytes: number) =>
  shell('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', at)

/** The lowest exit code of `e2fsck` that means it did not do its work. */
const NOT_REPAIRED = 4

const run = (command: string[]) =>
  Bun.spawnSync(command, { env: { ...process.env, PATH }, stderr: 'pipe' })

/** Only root may, and not in every container. */
export const canMount = process.platform === 'linux' && process.getuid?.() === 0 && tryToMount()

function tryToMount(): boolean {
  using folder = temporaryFolder()
  try {
    mountMemory(folder.path, 1)
    shell('umount', folder.path)
    return true
  } catch {
    return false
  }
}

/** Whether a disk can be made to fail while it is used. */
export const canFailDisk =
  canMount &&
  existsSync('/dev/loop-control') &&
  existsSync('/sys/fs/ext4') &&
  ['mkfs.ext4', 'e2fsck', 'losetup'].every((program) => Bun.which(program, { PATH }) !== null)

/** A small file system in memory. */
export function smallDisk(stack: AsyncDisposableStack, megabytes: number) {
  const { path } = stack.use(temporaryFolder())
  const mountPoint = join(path, 'disk')
  mkdirSync(mountPoint)
  mountMemory(mountPoint, megabytes)
  stack.defer(() => void shell('umount', '--lazy', mountPoint))
  const filler = join(mountPoint, 'filler')

  function freeBytes(): number {
    const { bavail, bsize } = statfsSync(mountPoint)
    return bavail * bsize
  }

  return {
    dataDir: join(mountPoint, 'data'),
    /** Fills the disk up to this many bytes, or fewer if others write meanwhile. */
    fill(bytesLeft: number) {
      try {
        writeFileSync(filler, Buffer.alloc(Math.max(0, freeBytes() - bytesLeft)))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    },
    makeRoom: () => rmSync(filler),
  }
}

/** A disk in a file. Like many, it is mounted so that it turns read-only once it finds a fault. */
export function faultyDisk(stack: AsyncDisposableStack, megabytes: number) {
  const { path } = stack.use(temporaryFolder())
  const [image, mountPoint] = [join(path, 'image'), join(path, 'disk')]
  mkdirSync(mountPoint)
  shell('truncate', '-s', `${megabytes}M`, image)
  shell('mkfs.ext4', '-q', '-F', image)
  const device = shell('losetup', '--find', '--show', image)
  stack.defer(() => void shell('losetup', '--detach', device))
  const mount = () => shell('mount', '-o', 'errors=remount-ro', device, mountPoint)
  const unmount = () => shell('umount', mountPoint)
  mount()
  stack.defer(() => void unmount())

  return {
    dataDir: join(mountPoint, 'data'),
    /** Turns the disk read-only under open files. */
    fail: () => writeFileSync(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, 'test'),
    /** As after a restart of the machine. No file may be open. */
    async repair() {
      unmount()
      // It refuses a disk that is still mounted in a namespace, which a test beside this one made.
      await until(() => run(['e2fsck', '-y', device]).exitCode < NOT_REPAIRED)
      mount()
    },
  }
}
