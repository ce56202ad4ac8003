import { readFileSync, renameSync } from 'node:fs'
import type { Config } from '../../config/index.ts'
import { identitiesIn, sealedText, unsealedText } from '../backup/encryption.ts'
import { notFound, unavailable } from '../errors.ts'
import { writeDurably } from '../files.ts'
import { type ObjectStorage, objectUrlIn } from '../object-storage/index.ts'
import { masterKeyFile, readMasterKey } from '../sealing/key-file.ts'

type Secret = Pick<Config['replication'], 'keyFile' | 'passphrase'>

/** The ids of the keys in `master.key` of a data directory; undefined without the file. */
export function keyIdIn(dataDir: string): string | undefined {
  const key = readMasterKey(dataDir)
  return key && [key, ...key.previous].map(({ id }) => id).join('+')
}

/** Whether the servers have something that seals the key. */
export const canSeal = ({ keyFile, passphrase }: Secret): boolean =>
  keyFile !== undefined || passphrase !== undefined

/**
 * `master.key` in the folder that the servers share, sealed by age with a passphrase or to the key in
 * a file that all servers have.
 */
export function createSealedKey(parts: {
  storage: ObjectStorage
  to: string
  dataDir: string
  secret: Secret
}) {
  const { storage, to, dataDir, secret } = parts
  const url = objectUrlIn(to, 'master-key.json')

  /** Stores the key of this server, unless it is there and can be opened. */
  async function store(keyId: string) {
    const found = await stored()
    if (found?.keyId === keyId && (await canOpen(found.age))) return
    const age = await sealedText(readFileSync(masterKeyFile(dataDir), 'utf8'), means())
    await storage.write(url, JSON.stringify({ keyId, age }))
  }

  /** Writes the key of the active server to this one. Throws an `AppError` that says what to do. */
  async function fetch(keyId: string) {
    const text = await open(keyId)
    const other = readMasterKey(dataDir)
    if (other) renameSync(masterKeyFile(dataDir), `${masterKeyFile(dataDir)}.${other.id}`)
    writeDurably(masterKeyFile(dataDir), text)
    if (keyIdIn(dataDir) !== keyId) throw unavailable(`${url} has another key than it says`)
  }

  /** The key as it is in `master.key`. Throws an `AppError` if it can't be read. */
  async function open(keyId: string): Promise<string> {
    const found = await stored()
    if (found?.keyId !== keyId) throw notFound(`${url} does not have the key ${keyId}`)
    return unsealedText(found.age, means())
  }

  /** Not after a change of what seals it. */
  const canOpen = (age: string): Promise<boolean> =>
    unsealedText(age, means()).then(
      () => true,
      () => false,
    )

  async function stored(): Promise<{ keyId: string; age: string } | undefined> {
    const found = await storage.readText(url)
    return found && JSON.parse(found.text)
  }

  function means() {
    const { keyFile, passphrase } = secret
    if (keyFile === undefined) return { passphrase: passphrase ?? '' }
    return { identities: identitiesIn(readFileSync(keyFile, 'utf8'), keyFile) }
  }

  return { store, open, fetch }
}
