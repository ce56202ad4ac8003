export type Name = [first: string, last: string]

export const CUSTOMERS =
  `Mira Lindqvist, Tomás Herrera, Aiko Tanaka, Jonas Weber, Priya Raman, Leila Haddad,
  Oskar Nowak, Grace Mensah, Élodie Marchand, Samir Chowdhury, Hanna Virtanen, Mateo Silva, Niamh Byrne,
  Daniel Cohen, Zeynep Kaya, Kwame Boateng, Ingrid Solberg, Luca Ferrari, Wei Zhang, Nora Fischer,
  Amara Okeke, Viktor Petrov, Sofia Papadaki, Hugo Laurent, Yusuf Demir, Clara Jensen, Rafael Costa,
  Eszter Nagy, Liam Gallagher, Anya Sharma, Pavel Dvořák, Marta Kowalska`
    .split(/,\s+/)
    .map((name) => name.split(' ') as Name)

/** Customers since before the day begins; the others sign up during it. */
export const REGULARS = CUSTOMERS.slice(0, 24)

const device = (ipAddress: string, system: string, rest: string) => ({
  ipAddress,
  userAgent: `Mozilla/5.0 (${system}) ${rest}`,
})
const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1'
const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0'

/** Addresses are of networks for examples. */
export const DEVICES = [
  device(
    '203.0.113.24',
    'iPhone; CPU iPhone OS 18_1 like Mac OS X',
    `${WEBKIT} Mobile/15E148 Safari/604.1`,
  ),
  device('203.0.113.91', 'Windows NT 10.0; Win64; x64', `${CHROME} Safari/537.36`),
  device('198.51.100.7', 'Macintosh; Intel Mac OS X 10_15_7', `${WEBKIT} Safari/605.1.15`),
  device('192.0.2.146', 'Linux; Android 15; Pixel 8', `${CHROME} Mobile Safari/537.36`),
  device('203.0.113.180', 'X11; Linux x86_64; rv:132.0', 'Gecko/20100101 Firefox/132.0'),
]

export const emailOf = ([first, last]: Name): string =>
  `${first}.${last}@example.com`.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '')
