import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyPair } from '../../src/platform/backup/encryption.ts'
import { createObjectStorage } from '../../src/platform/object-storage/index.ts'
import { createSealedKey, keyIdIn } from '../../src/platform/replication/sealed-key.ts'
import { loadMasterKey } from '../../src/platform/sealing/key-file.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startS3Server } from '../support/s3-server.ts'

const SECRETS = ['passphrase', 'key file'] as const

test.each(SECRETS)(
  'master.key reaches another server sealed by a %s, and no other way',
  async (kind) => {
    using s3 = startS3Server()
    using folder = temporaryFolder()
    const storage = createObjectStorage(s3.settings)
    const secretOf = async (name: string) => {
      if (kind === 'passphrase') return { passphrase: name, keyFile: undefined }
      const keyFile = join(folder.path, name)
      writeFileSync(keyFile, `# a comment\n${(await newKeyPair()).identity}\n`)
      return { passphrase: undefined, keyFile }
    }
    const open = (dataDir: string, secret: Awaited<ReturnType<typeof secretOf>>) =>
      createSealedKey({ storage, to: 's3://bucket', dataDir, secret })
    const secret = await secretOf('right')
    using one = temporaryFolder()
    using two = temporaryFolder()
    loadMasterKey(one.path)
    const keyId = keyIdIn(one.path) ?? ''
    const content = readFileSync(join(one.path, 'master.key'), 'utf8')
    await open(one.path, secret).store(keyId)
    const stored = Buffer.from(s3.objects.get('master-key.json')?.body ?? []).toString()
    expect(stored).toContain(keyId)
    expect(stored).not.toContain(content.trim())

    await expect(open(two.path, await secretOf('wrong')).fetch(keyId)).rejects.toThrow('another')
    expect(existsSync(join(two.path, 'master.key'))).toBe(false)
    // The other server had data of its own once, which was sealed with another key.
    loadMasterKey(two.path)
    const former = keyIdIn(two.path)
    await open(two.path, secret).fetch(keyId)
    expect(readFileSync(join(two.path, 'master.key'), 'utf8')).toBe(content)
    expect(existsSync(join(two.path, `master.key.${former}`))).toBe(true)
    if (kind === 'passphrase') return
    // Both servers get another secret.
    const next = await secretOf('next')
    await open(one.path, next).store(keyId)
    expect(await open(two.path, next).open(keyId)).toBe(content)
  },
  // Deriving a key from a passphrase takes a second, so only key files are replaced.
  30_000,
)
