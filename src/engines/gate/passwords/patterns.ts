/** Keys and letters in the order in which fingers run over them. No character is twice in one. */
const WALKS = [
  '1234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopüasdfghjklöäyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  'абвгдеёжзийклмнопрстуфхцчшщъыьэюя',
  'йцукенгшщзхъфывапролджэячсмитьбю',
].map((keys) => [...keys])

/** Longer repetitions say something. */
const LONGEST_REPEATED = 4

/** Whether a password is one to four characters over and over, or a walk along keys or letters. */
export function isPattern(password: string): boolean {
  const characters = [...password]
  return isRepetition(characters) || WALKS.some((keys) => isWalk(characters, keys))
}

function isRepetition(characters: string[]): boolean {
  for (let period = 1; period <= LONGEST_REPEATED; period++) {
    if (characters.every((character, place) => character === characters[place % period]))
      return true
  }
  return false
}

/** In either direction, and round from the last to the first. */
const isWalk = (characters: string[], keys: string[]): boolean =>
  [1, keys.length - 1].some((step) => {
    const next = (key: string) => keys[(keys.indexOf(key) + step) % keys.length]
    return keys.includes(characters[0] as string) && isChain(characters, next)
  })

const isChain = (characters: string[], next: (character: string) => string | undefined): boolean =>
  characters.slice(1).every((character, before) => character === next(characters[before] as string))
