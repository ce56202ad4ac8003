/** Whom the shop sells to: names of many places, as they come. */
export const CUSTOMERS = [
  ['Mira', 'Lindqvist'],
  ['Tomás', 'Herrera'],
  ['Aiko', 'Tanaka'],
  ['Jonas', 'Weber'],
  ['Priya', 'Raman'],
  ['Leila', 'Haddad'],
  ['Oskar', 'Nowak'],
  ['Grace', 'Mensah'],
  ['Élodie', 'Marchand'],
  ['Samir', 'Chowdhury'],
  ['Hanna', 'Virtanen'],
  ['Mateo', 'Silva'],
  ['Niamh', 'Byrne'],
  ['Daniel', 'Cohen'],
  ['Zeynep', 'Kaya'],
  ['Kwame', 'Boateng'],
  ['Ingrid', 'Solberg'],
  ['Luca', 'Ferrari'],
  ['Wei', 'Zhang'],
  ['Nora', 'Fischer'],
  ['Amara', 'Okeke'],
  ['Viktor', 'Petrov'],
  ['Sofia', 'Papadaki'],
  ['Hugo', 'Laurent'],
  ['Yusuf', 'Demir'],
  ['Clara', 'Jensen'],
  ['Rafael', 'Costa'],
  ['Eszter', 'Nagy'],
  ['Liam', 'Gallagher'],
  ['Anya', 'Sharma'],
  ['Pavel', 'Dvořák'],
  ['Marta', 'Kowalska'],
] as const

/** Where people sit when they sign in, of networks that are there for examples. */
export const DEVICES = [
  {
    ipAddress: '203.0.113.24',
    userAgent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  },
  {
    ipAddress: '203.0.113.91',
    userAgent:
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  },
  {
    ipAddress: '198.51.100.7',
    userAgent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
  },
  {
    ipAddress: '192.0.2.146',
    userAgent:
      'Mozilla/5.0 (Linux; Android 15; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36',
  },
  {
    ipAddress: '203.0.113.180',
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
  },
] as const

/** As an address has a name: in plain letters. */
export const emailOf = ([first, last]: readonly [string, string]): string =>
  `${first}.${last}@example.com`.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '')
