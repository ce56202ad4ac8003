/** Rows of keys and letters in sequence. No character occurs twice in a row. */
const WALKS = [
  '1234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopüasdfghjklöäyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  'абвгдеёжзийклмнопрстуфхцчшщъыьэюя',
  'йцукенгшщзхъфывапролджэячсмитьбю',
].map((keys) => [...keys])

/** Longer repeated parts are not considered a pattern. */
const MAX_REPEATED_LENGTH = 4

/** Whether a password repeats one to four characters, or follows a row of keys or letters. */
export function isPattern(password: string): boolean {
  const characters = [...password]
  return isRepetition(characters) || WALKS.some((keys) => isWalk(characters, keys))
}

function isRepetition(characters: string[]): boolean {
  for (let period = 1; period <= MAX_REPEATED_LENGTH; period++) {
    if (characters.every((character, index) => character === characters[index % period]))
      return true
  }
  return false
}

/** In either direction, wrapping around at the ends. */
const isWalk = (characters: string[], keys: string[]): boolean =>
  [1, keys.length - 1].some((step) => {
    const next = (key: string) => keys[(keys.indexOf(key) + step) % keys.length]
    return keys.includes(characters[0] as string) && isChain(characters, next)
  })

const isChain = (characters: string[], next: (character: string) => string | undefined): boolean =>
  characters.slice(1).every((character, before) => character === next(characters[before] as string))
