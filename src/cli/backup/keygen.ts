import { newKeyPair } from '../../platform/backup/index.ts'
import type { Command } from '../command.ts'

export const backupKeygen: Command = {
  name: 'backup keygen',
  summary: 'Make a key pair for encrypted backups. Keep the private key off this machine.',
  run: async () => {
    const { identity, recipient } = await newKeyPair()
    return {
      json: { public_key: recipient, private_key: identity },
      text: [
        '# Save this as a file, away from this machine: backups cannot be read without it.',
        `# public key, for [backup] encrypt_to: ${recipient}`,
        identity,
      ].join('\n'),
    }
  },
}
