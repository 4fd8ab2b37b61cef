SELECT
  1000000 + id AS transactionID,
  2000000 + pmod(xxhash64(id, 'customer'), 300) AS customerID,
  3000000 + pmod(xxhash64(id, 'franchise'), 48) AS franchiseID,
  timestamp_seconds(1714521600 + pmod(xxhash64(id, 'when'), 1468800)) AS dateTime,
  array('Golden Gate Ginger', 'Outback Oatmeal', 'Austin Almond Biscotti', 'Tokyo Tidbits', 'Pearly Pies', 'Orchard Oasis')[CAST(pmod(xxhash64(id, 'product'), 6) AS INT)] AS product,
  quantity,
  3L AS unitPrice,
  3 * quantity AS totalPrice,
  array('visa', 'mastercard', 'amex')[CAST(pmod(xxhash64(id, 'card'), 3) AS INT)] AS paymentMethod,
  4000000000000000 + pmod(xxhash64(id, 'number'), 999999999999999) AS cardNumber
FROM (SELECT id, 1 + pmod(xxhash64(id, 'quantity'), 40) AS quantity FROM range(3333))
