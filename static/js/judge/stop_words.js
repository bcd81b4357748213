// Stop words by language. The language of a text is the one whose stop words occur most often in
// it.

const LISTS = {
  en: `a about above after again against all also am an and any are as at be because been before being below between both but by can could did do does
    doing down during each either else ever every few for from further had has have having he her here hers him his how i if in into is it its itself just
    less made make many may me might more most much must my neither no nor not now of off often on once one only onto or other our out over own per rather
    same shall she should since so some such than that the their them then there these they this those through thus to too under until up upon us very was
    we were what when where whether which while who whom whose why will with within without would yet you your`,
  de: `aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da damit dann das dass dem den denn der des dessen
    die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euch für gegen hat hatte hatten hier ihm ihn
    ihnen ihr ihre im in ist ja jede jedem jeden jeder jedes kann kein keine können mehr mein mit muss nach nicht noch nun nur ob oder ohne sehr sein seine
    sich sie sind so soll sollte über um und uns unter vom von vor war waren warum was weil welche welcher wenn wer werden wie wieder will wir wird wo wurde
    wurden zu zum zur zwischen`,
  fr: `à afin ainsi alors après au aucun aussi autre autres aux avant avec avoir car ce cela ces cet cette chaque comme comment dans de des donc dont du elle
    elles en encore entre est et été être eu faire fait il ils je la le les leur leurs lors lorsque lui mais me même mes moins mon ne ni nos notre nous on ont
    ou où par parce pas pendant peu peut plus plusieurs pour pourquoi qu quand que quel quelle quelles quels qui sa sans se selon ses si son sont sous sur ta
    te tous tout toute toutes très tu un une vers vos votre vous y`,
  es: `a al algo algunas algunos ante antes aquel así aunque cada como con contra cual cuales cuando cuánto de del desde donde dos durante e el ella ellas
    ellos en entre era es esa ese eso esta está están este esto estos fue fueron ha había han hasta hay la las le les lo los más me mi mientras mismo muy ni
    no nos nosotros o otra otras otro otros para pero poco por porque pueden puede qué que quien quién se según ser si sí sido sin sobre son su sus también
    tan tanto te tiene todo todos tras un una uno unos y ya`,
  ar: `أن إن أو إلى التي الذي الذين ان او الى بعد بها به بين تلك ثم حتى حيث ذلك عن على عند غير في فيها فيه قبل قد كان كانت كل كما كيف لا لم لماذا لن له لها ما متى
    مع من منذ هذا هذه هل هو هي هناك و ولا وهو وهي يكون`,
};
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const ENOUGH = 400; // words that identify the language
const SETS = Object.entries(LISTS).map(([language, words]) => [
  language,
  new Set(words.split(/\s+/).map(folded)),
]);

/** Returns a word without case and accents. */
export function folded(word) {
  return word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Returns the stop words of the language of `text`, English if the text has no stop words. */
export function stopWords(text) {
  const words = (text.match(WORD) ?? []).slice(0, ENOUGH).map(folded);
  const counted = SETS.map(
    ([, set]) => words.filter((word) => set.has(word)).length,
  );
  return SETS[counted.indexOf(Math.max(...counted))][1];
}
