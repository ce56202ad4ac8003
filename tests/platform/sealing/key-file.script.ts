/**
 * Loads the master key of a directory as soon as it is told to on standard input, and prints its
 * id. Arguments: the directory and, where the rights of root would get in the way, an account.
 */
import { loadMasterKey, MasterKeyError } from '../../../src/platform/sealing/key-file.ts'

const [dataDir = '', account] = process.argv.slice(2)
if (account) process.setuid?.(Number(account))
console.log('ready')
for await (const _ of console) break
try {
  console.log(loadMasterKey(dataDir).id)
} catch (error) {
  console.log(error instanceof MasterKeyError ? error.message : `unexpected: ${error}`)
}
process.exit()
